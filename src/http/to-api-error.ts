import { HttpException } from '@nestjs/common';
import { isDatabaseUnavailable, isSerializationConflict } from '#libs/database';
import {
  ApiError,
  type AllowedMethods,
  BadRequestError,
  InternalError,
  MethodNotAllowedError,
  RouteNotFoundError,
  ServiceUnavailableError,
} from '#libs/http';

/** Maps a failure from our code, Nest, Fastify or the database to an error of the catalogue. */
export function toApiError(failure: unknown, target: string, allowedMethods: AllowedMethods): ApiError {
  if (failure instanceof ApiError) {
    return failure;
  }
  // After several failed attempts because of conflicts, a later request may still succeed.
  if (isDatabaseUnavailable(failure) || isSerializationConflict(failure)) {
    return new ServiceUnavailableError();
  }
  const status = statusOf(failure);
  switch (status) {
    case 403: // A file outside the served folder.
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
