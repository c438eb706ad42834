import { type ArgumentsHost, Catch, type ExceptionFilter, Injectable, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiError } from '#libs/errors';
import { AllowedMethods, InternalError, routeOf } from '#libs/http';
import { ErrorAnswer } from './error-answer';
import { Stragglers } from './stragglers';
import { toApiError } from './to-api-error';

/** Turns every failure into the Error object. */
@Injectable()
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('Errors');

  constructor(
    private readonly allowedMethods: AllowedMethods,
    private readonly stragglers: Stragglers,
    private readonly answers: ErrorAnswer,
  ) {}

  async catch(failure: unknown, host: ArgumentsHost): Promise<void> {
    try {
      await this.answer(failure, host);
    } catch (later) {
      // Nest does not look at what a filter promises: whatever fails here has to be answered here.
      this.logger.error({ err: later, while: 'answering a failure' });
      const bare = new InternalError();
      void host.switchToHttp().getResponse<FastifyReply>().status(bare.status).send(bare.toBody());
    }
  }

  private async answer(failure: unknown, host: ArgumentsHost): Promise<void> {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const error = await this.errorFor(failure, request);
    if (error.status >= 500) {
      this.log(error, failure, request);
    }
    await this.answers.send(error, request, reply);
  }

  private async errorFor(failure: unknown, request: FastifyRequest): Promise<ApiError> {
    try {
      const refusal = await this.stragglers.admit(request);
      return refusal ?? toApiError(failure, request.url, this.allowedMethods);
    } catch (later) {
      // The sender could not be looked up: the database is away, which is the more useful thing to tell.
      return toApiError(later, request.url, this.allowedMethods);
    }
  }

  private log(error: ApiError, failure: unknown, request: FastifyRequest): void {
    const context = { requestId: request.id, operation: routeOf(request).url, code: error.code };
    if (error.status === 503) {
      this.logger.warn({ ...context, reason: failure instanceof Error ? failure.message : String(failure) });
    } else {
      this.logger.error({ ...context, err: failure });
    }
  }
}
