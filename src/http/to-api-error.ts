import { HttpException } from '@nestjs/common';
import { isDatabaseUnavailable, isSerializationConflict } from '#libs/database';
import { ApiError } from '#libs/errors';
import {
  type AllowedMethods,
  BadRequestError,
  InternalError,
  MethodNotAllowedError,
  RouteNotFoundError,
  ServiceUnavailableError,
} from '#libs/http';

/** Which error of the catalogue a failure is, whoever threw it: our code, Nest, Fastify or the database. */
export function toApiError(failure: unknown, target: string, allowedMethods: AllowedMethods): ApiError {
  if (failure instanceof ApiError) {
    return failure;
  }
  // Work that lost against others in every one of its attempts may well succeed when it is sent again.
  if (isDatabaseUnavailable(failure) || isSerializationConflict(failure)) {
    return new ServiceUnavailableError();
  }
  const status = statusOf(failure);
  switch (status) {
    case 403: // A file outside of the folder that is served.
    case 404: {
      const allow = allowedMethods.of(target);
      return allow === null ? new RouteNotFoundError() : new MethodNotAllowedError(allow);
    }
    case 503: // A health check that fails.
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
