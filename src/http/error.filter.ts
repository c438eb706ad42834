import { type ArgumentsHost, Catch, type ExceptionFilter, Injectable, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { isDatabaseUnavailable, isSerializationConflict, loggableError } from '#libs/database';
import {
  ApiError,
  BadRequestError,
  InternalError,
  JSON_TYPE,
  MethodNotAllowedError,
  PayloadTooLargeError,
  RouteNotFoundError,
  ServiceUnavailableError,
  OperatorActionNeededError,
  WHOLE_SERVICE,
  closeIfUnread,
} from '#libs/http';
import { assertMayCall } from '../modules/auth';
import { RequestLimiter } from '../modules/quotas';
import { METHODS } from './cors';
import { sendUnknownPage } from './document/pages';
import { settleLimits, whoseLimits } from './settle-limits';

@Injectable()
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('Errors');

  constructor(private readonly limiter: RequestLimiter) {}

  /**
   * Sends the error response. Never rejects, because Nest does not await exception filters, so an unhandled
   * rejection would end the process.
   */
  async catch(thrown: unknown, host: ArgumentsHost): Promise<void> {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    if (reply.raw.destroyed) {
      return;
    }
    try {
      const refusal = await this.countUncounted(request, thrown);
      const failure = refusal ?? unknownPathOrMethod(request) ?? thrown;
      const error = toApiError(failure);
      if (error.status >= 500) {
        this.log(error, failure, request);
      }
      await settleLimits(this.limiter, request, reply, error.status);
      send(error, request, reply);
    } catch (later) {
      this.logger.error({ reqId: request.id, err: later, msg: 'Sending the error response failed.' });
      send(new InternalError(), request, reply);
    }
  }

  /**
   * Counts a request that failed before the guards, such as one for an unknown path.
   * @returns the error to send instead of `thrown`, for example because the caller has exceeded its rate limit or the
   * key is invalid; undefined if `thrown` itself is to be sent
   */
  private async countUncounted(request: FastifyRequest, thrown: unknown): Promise<unknown> {
    // Do not count a request that fails with a 5xx, because `settleLimits` would refund the request. The caller gets
    // the failure of the service instead of an error of the rate limit or of the key.
    const isUncounted = request.client === undefined && whoseLimits(request) === 'client';
    if (!isUncounted || httpStatusOf(thrown) >= 500) {
      return undefined;
    }
    try {
      await this.limiter.admit(request);
      assertMayCall(request);
      return undefined;
    } catch (refusal) {
      return refusal;
    }
  }

  private log(error: ApiError, failure: unknown, request: FastifyRequest): void {
    const operation = request.routeOptions.url ?? 'unknown';
    const fields = { reqId: request.id, operation, code: error.code, msg: 'request failed' };
    if (error.status === 503) {
      const { message, code } = loggableError(failure);
      this.logger.warn({ ...fields, reason: message || code });
    } else {
      this.logger.error({ ...fields, err: failure });
    }
  }
}

/** Returns the 404 or 405 error if no route matches the request, otherwise null. */
function unknownPathOrMethod(request: FastifyRequest): ApiError | null {
  const { is404, isMalformed, server, url } = request;
  // A malformed request gets the error that says what is malformed, and not a 404 or 405.
  if (!is404 || isMalformed) {
    return null;
  }
  if (url === WHOLE_SERVICE) {
    return new MethodNotAllowedError(METHODS);
  }
  const allowed = server.supportedMethods.toSorted().filter((method) => {
    const found = server.findRoute({ method: method as HTTPMethods, url }) as { params: object } | null;
    // For `/pets/`, the router finds `/pets/:petId` with an empty id. Ignore such a route, because no resource has an
    // empty id.
    return found !== null && !Object.values(found.params).includes('');
  });
  return allowed.length === 0
    ? new RouteNotFoundError(request.similarOperation)
    : new MethodNotAllowedError(allowed.join(', '));
}

function send(error: ApiError, request: FastifyRequest, reply: FastifyReply): void {
  closeIfUnread(reply);
  if (reply.hasHeader('connection')) {
    // Fastify asks for the end of the connection whenever Fastify refuses a body. Keep the connection open if the whole
    // body has arrived. If not, `closeIfUnread` has set `shouldKeepAlive` to false.
    void reply.header('connection', reply.raw.shouldKeepAlive ? 'keep-alive' : 'close');
  }
  void reply.status(error.status).headers(error.headers);
  if (error.status === 404 && sendUnknownPage(request, reply)) {
    return;
  }
  void reply.type(JSON_TYPE).send(JSON.stringify(error.toBody()));
}

function toApiError(failure: unknown): ApiError {
  if (failure instanceof ApiError) {
    return failure;
  }
  // The database is unavailable, or busy with concurrent transactions. A later request may succeed, so respond with
  // 503.
  if (
    isDatabaseUnavailable(failure) ||
    isSerializationConflict(failure) ||
    failure instanceof OperatorActionNeededError
  ) {
    return new ServiceUnavailableError();
  }
  const status = httpStatusOf(failure);
  if (status === 413) {
    return new PayloadTooLargeError();
  }
  return status >= 400 && status < 500
    ? new BadRequestError('The request cannot be read.')
    : new InternalError();
}

/** Nest's errors have the HTTP status in `status`, Fastify's in `statusCode`. */
function httpStatusOf(failure: unknown): number {
  const { status, statusCode = status } = failure as { status?: unknown; statusCode?: unknown };
  return typeof statusCode === 'number' ? statusCode : 500;
}
