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
  UnavailableError,
  WHOLE_SERVICE,
  closeIfUnread,
} from '#libs/http';
import { assertMayCall } from '../modules/auth';
import { limitErrorOf, RequestLimiter } from '../modules/quotas';
import { sendUnknownPage } from './document/pages';
import { writeHeaders } from './response.interceptor';

/** Turns every failure into the Error object, with all header fields of a successful response. */
@Injectable()
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('Errors');

  constructor(private readonly limiter: RequestLimiter) {}

  /** Never rejects: Nest does not await filters. */
  async catch(thrown: unknown, host: ArgumentsHost): Promise<void> {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    if (reply.raw.destroyed) {
      // The caller has disconnected, perhaps in the middle of its body.
      return;
    }
    try {
      const failure = await this.failureOf(thrown, request);
      const error = toApiError(failure);
      if (error.status >= 500) {
        this.log(error, failure, request);
      }
      await writeHeaders(this.limiter, request, reply, error.status);
      send(error, request, reply);
    } catch (later) {
      this.logger.error({ reqId: request.id, err: later, msg: 'responding to a failure has failed' });
      send(new InternalError(), request, reply);
    }
  }

  /** What failed before any guard (an unknown path, an unreadable body) is counted here, and refused for limits or key first. */
  private async failureOf(thrown: unknown, request: FastifyRequest): Promise<unknown> {
    try {
      if (request.client === undefined && !request.isOutsideApi && statusOf(thrown) < 500) {
        const decision = await this.limiter.admit(await this.limiter.identify(request));
        if (decision.outcome !== 'allowed') {
          return limitErrorOf(decision);
        }
        // An unknown path needs no key.
        assertMayCall(request, 'public');
      }
      return unknownPathOrMethod(request) ?? thrown;
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

/** Methods that operations have, for requests about the service as a whole. */
export const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';

/** The error of an unknown path or method, whatever body the request has; not of one that must not be interpreted. */
function unknownPathOrMethod({ is404, client, server, url }: FastifyRequest): ApiError | null {
  if (!is404 || (client !== undefined && client.decision === undefined)) {
    return null;
  }
  if (url === WHOLE_SERVICE) {
    return new MethodNotAllowedError(METHODS);
  }
  const allowed = server.supportedMethods.toSorted().filter((method) => {
    const found = server.findRoute({ method: method as HTTPMethods, url }) as { params: object } | null;
    // The router finds `/pets/` as a pet without an id.
    return found !== null && !Object.values(found.params).includes('');
  });
  return allowed.length === 0 ? new RouteNotFoundError() : new MethodNotAllowedError(allowed.join(', '));
}

function send(error: ApiError, request: FastifyRequest, reply: FastifyReply): void {
  closeIfUnread(reply);
  if (reply.hasHeader('connection')) {
    // Fastify would close the connection after every body that it refuses, even one that has arrived completely.
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
  // After several failed attempts because of conflicts, a later request may still succeed.
  if (
    isDatabaseUnavailable(failure) ||
    isSerializationConflict(failure) ||
    failure instanceof UnavailableError
  ) {
    return new ServiceUnavailableError();
  }
  const status = statusOf(failure);
  if (status === 413) {
    return new PayloadTooLargeError();
  }
  return status >= 400 && status < 500
    ? new BadRequestError('The request cannot be read.')
    : new InternalError();
}

/** Errors of Nest and of Fastify name it differently. */
function statusOf(failure: unknown): number {
  const { status, statusCode = status } = failure as { status?: unknown; statusCode?: unknown };
  return typeof statusCode === 'number' ? statusCode : 500;
}
