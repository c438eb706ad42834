import { type ArgumentsHost, Catch, type ExceptionFilter, Injectable, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ApiError, AllowedMethods, InternalError, routeOf } from '#libs/http';
import { AnswerHeaders } from './answer-headers';
import { answerUnknownPage } from './document';
import { toApiError } from './to-api-error';

/** Turns every failure into the Error object, with all header fields of a successful response. */
@Injectable()
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('Errors');

  constructor(
    private readonly allowedMethods: AllowedMethods,
    private readonly headers: AnswerHeaders,
  ) {}

  /** Responds synchronously where possible: Nest does not await filters. */
  catch(failure: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    try {
      // A refusal by the limits takes precedence, so that unknown paths and bad requests do not bypass them.
      const error = request.verdict?.refusal ?? toApiError(failure, request.url, this.allowedMethods);
      if (error.status >= 500) {
        this.log(error, failure, request);
      }
      const written = this.headers.write(request, reply, error.status);
      if (written instanceof Promise) {
        written.then(() => send(error, request, reply)).catch((later) => this.giveUp(later, request, reply));
      } else {
        send(error, request, reply);
      }
    } catch (later) {
      this.giveUp(later, request, reply);
    }
  }

  private giveUp(failure: unknown, request: FastifyRequest, reply: FastifyReply): void {
    this.logger.error({ err: failure, while: 'answering a failure' });
    send(new InternalError(), request, reply);
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

function send(error: ApiError, request: FastifyRequest, reply: FastifyReply): void {
  void reply.status(error.status).headers(error.headers);
  if (error.status === 404 && answerUnknownPage(request, reply)) {
    return;
  }
  void reply.type('application/json; charset=utf-8').send(JSON.stringify(error.toBody()));
}
