// This file connects the headers of a request with the command that its handler sends. A handler sends its command with a
// source (`Source` below). The executor calls `wrap` of the source, which puts up to two layers around the command:
// 1. The outer layer exists if the request has an `Idempotency-Key`. If a response is stored under the key, this layer returns
//    the stored response, and the command does not run. `IdempotencyInterceptor` makes the layer (`IdempotentRequest.wrap`).
// 2. The inner layer exists if the request has `If-Match` or `If-None-Match`. If the condition is not met, this layer throws
//    412, and the command does not run (`underConditions` below).
// A request with an invalid body is refused before its handler sends a command. If such a request has an `Idempotency-Key`,
// `IdempotencyInterceptor` sends a command in the outer layer that only throws the error of the refusal. So a stored response
// is returned instead of this error, too.
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
