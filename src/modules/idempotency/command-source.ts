import { type ExecutionContext, createParamDecorator } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Command, CommandSource, State } from '#libs/database';
import { ApiError, assertConditions, assertPathConditions } from '#libs/http';
import { keyOf } from '../auth';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set if the request has an `Idempotency-Key`. Makes the command of the request take effect only once. */
    commandSource?: CommandSource;
  }
}

/**
 * Parameter decorator that gives a handler the source of its command: the client, and what the request's `If-Match` and
 * `Idempotency-Key` demand. The handler passes the source on with the command.
 */
export const Source = createParamDecorator((_data: unknown, context: ExecutionContext): CommandSource => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  const { headers, commandSource: source = { caller: keyOf(request).clientId } } = request;
  if (request.routeOptions.config.checksConditions) {
    return { ...source, assertPrecondition: (resource) => assertConditions(headers, resource) };
  }
  const wrap: CommandSource['wrap'] = (command) => {
    const conditional = underConditions(command, request);
    return source.wrap?.(conditional) ?? conditional;
  };
  return { ...source, wrap };
});

/**
 * Makes a command fail with 412 if `If-Match` or `If-None-Match` of the request is not met, for an operation on a path
 * that returns no ETag, such as a list. On such a path, an ETag in `If-Match` never matches, while `*` does. The 412
 * takes precedence over every error of the command except 404, and over success.
 */
function underConditions<Result>(command: Command<Result>, request: FastifyRequest): Command<Result> {
  const decide = (state: State): Result => {
    try {
      const result = command.decide(state);
      assertPathConditions(request);
      return result;
    } catch (error) {
      if (error instanceof ApiError && error.status !== 404) {
        assertPathConditions(request);
      }
      throw error;
    }
  };
  return { ...command, decide };
}
