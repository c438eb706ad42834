// This file connects a request with the command of its handler. Before the executor runs the command, the executor
// calls `wrap` of the command's source, and gets a command with up to two layers around the handler's own command:
// 1. The outer layer belongs to the `Idempotency-Key`: the stored response replaces the decision (`IdempotentRequest.wrap`).
//    `IdempotencyInterceptor` puts this layer into `request.commandSource`, because the interceptor also marks the response.
// 2. The inner layer belongs to `If-Match` and `If-None-Match`: the decision fails with 412 (`underConditions` below).
// A request that is refused before its handler sends a command, for example because of an invalid body, has no command to
// wrap. If the request has an `Idempotency-Key`, `IdempotencyInterceptor` sends a command that has only the outer layer around
// the error: a stored response replaces the error.
import {
  type ExecutionContext,
  RequestMethod,
  UseInterceptors,
  applyDecorators,
  createParamDecorator,
} from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Command, CommandSource, State } from '#libs/database';
import { ChecksConditions, Documented, EachOperation, assertConditions, hasConditions } from '#libs/http';
import { apiKeyOf } from '../auth';
import { IdempotencyInterceptor } from './idempotency.interceptor';
import { IdempotencyInProgressError, IdempotencyKeyReusedError } from './idempotent-request';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set if the request has an `Idempotency-Key`. Makes the command of the request take effect only once. */
    commandSource?: CommandSource;
  }
}

/**
 * Class decorator for a controller that changes data. POST supports `Idempotency-Key`; PUT, PATCH and DELETE support
 * `If-Match`.
 */
export function SendsCommands(): ClassDecorator {
  const idempotent = applyDecorators(
    UseInterceptors(IdempotencyInterceptor),
    Documented({
      requestHeaders: ['Idempotency-Key'],
      successHeaders: ['Idempotent-Replayed'],
      errors: [IdempotencyInProgressError, IdempotencyKeyReusedError],
    }),
  );
  const conditional = ChecksConditions();
  return EachOperation((method) => {
    if (method === RequestMethod.POST) {
      return idempotent;
    }
    return method === RequestMethod.GET ? undefined : conditional;
  });
}

/**
 * Parameter decorator that gives a handler the source of its command: the client, and what the request's `If-Match`,
 * `If-None-Match` and `Idempotency-Key` demand. The handler passes the source on with the command.
 */
export const Source = createParamDecorator((_data: unknown, context: ExecutionContext): CommandSource => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  const { commandSource: source = { callerId: apiKeyOf(request).clientId } } = request;
  const { wrap = (command) => command } = source;
  return { ...source, wrap: (command) => wrap(underConditions(command, request)) };
});

/**
 * Returns a command that fails with 412 if the request has an `If-Match` or `If-None-Match` that is not met. The command
 * runs three steps: its function `resource` throws a 404 if the resource does not exist, then this function checks the
 * conditions, and then the command's function `decide` checks the rules of the store.
 */
function underConditions<Result>(command: Command<Result>, request: FastifyRequest): Command<Result> {
  const hasTag = request.routeOptions.config.checksConditions === true;
  if (hasTag && command.resource === undefined) {
    throw new Error('The command does not declare its resource, so it would ignore If-Match.');
  }
  if (!hasConditions(request)) {
    return command;
  }
  const decide = (state: State): Result => {
    const resource = command.resource?.(state) ?? null;
    assertConditions(request, hasTag ? resource : null);
    return command.decide(state);
  };
  return { ...command, decide };
}
