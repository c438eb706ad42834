import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  HttpException,
  Injectable,
  Logger,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isDatabaseUnavailable, isSerializationConflict } from '#libs/database';
import {
  AllowedMethods,
  ApiError,
  BadRequestError,
  InternalError,
  JSON_TYPE,
  MethodNotAllowedError,
  RouteNotFoundError,
  ServiceUnavailableError,
  UnavailableError,
  boundUnreadChunks,
  routeOf,
} from '#libs/http';
import { sendUnknownPage } from './document';
import { ResponseHeaders } from './response.interceptor';

/** Turns every failure into the Error object, with all header fields of a successful response. */
@Injectable()
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('Errors');

  constructor(
    private readonly allowedMethods: AllowedMethods,
    private readonly headers: ResponseHeaders,
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
    this.logger.error({ err: failure, while: 'responding to a failure' });
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
  boundUnreadChunks(request.raw);
  void reply.status(error.status).headers(error.headers);
  if (error.status === 404 && sendUnknownPage(request, reply)) {
    return;
  }
  void reply.type(JSON_TYPE).send(JSON.stringify(error.toBody()));
}

/** Maps a failure from our code, Nest, Fastify or the database to an error of the catalogue. */
function toApiError(failure: unknown, target: string, allowedMethods: AllowedMethods): ApiError {
  if (failure instanceof ApiError) {
    return failure;
  }
  // After several failed attempts because of conflicts, a later request may still succeed.
  if (
    isDatabaseUnavailable(failure) ||
    isSerializationConflict(failure) ||
    failure instanceof UnavailableError
  ) {
    return new ServiceUnavailableError();
  }
  const status = statusOf(failure);
  switch (status) {
    case 404: {
      const allow = allowedMethods.of(target);
      return allow === null ? new RouteNotFoundError() : new MethodNotAllowedError(allow);
    }
    case 503: // A failed health check.
      return new ServiceUnavailableError();
    default:
      return status >= 400 && status < 500
        ? new BadRequestError('The request cannot be read.')
        : new InternalError();
  }
}

function statusOf(failure: unknown): number {
  if (failure instanceof HttpException) {
    return failure.getStatus();
  }
  const { statusCode } = failure as { statusCode?: unknown };
  return typeof statusCode === 'number' ? statusCode : 500;
}
