// This file connects a request with the command of its handler. The executor calls `wrap` of the source before it runs the
// command, and gets a command with up to two layers around the handler's own:
// 1. The outer layer belongs to the `Idempotency-Key`: the stored response replaces the decision (`IdempotentRequest.wrap`).
//    `IdempotencyInterceptor` puts this layer into `request.commandSource`, because it also has to see the response.
// 2. The inner layer belongs to `If-Match`: the decision fails with 412 (`Source` below).
import {
  type ExecutionContext,
  RequestMethod,
  UseInterceptors,
  applyDecorators,
  createParamDecorator,
} from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Command, CommandSource, State } from '#libs/database';
import {
  ApiError,
  ChecksConditions,
  Documented,
  EachOperation,
  assertConditions,
  assertPathConditions,
} from '#libs/http';
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
 * Parameter decorator that gives a handler the source of its command: the client, and what the request's `If-Match` and
 * `Idempotency-Key` demand. The handler passes the source on with the command. If the operation checks `If-Match` itself
 * (`ChecksConditions`), `decide` of the command must call `assertPrecondition`. Otherwise the command fails.
 */
export const Source = createParamDecorator((_data: unknown, context: ExecutionContext): CommandSource => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  const { headers, commandSource: source = { callerId: apiKeyOf(request).clientId } } = request;
  const { wrap = (command) => command } = source;
  if (!request.routeOptions.config.checksConditions) {
    return { ...source, wrap: (command) => wrap(underConditions(command, request)) };
  }
  let isAsserted = false;
  return {
    ...source,
    assertPrecondition(resource) {
      isAsserted = true;
      assertConditions(headers, resource);
    },
    wrap(command) {
      const decide: typeof command.decide = (state) => {
        isAsserted = false;
        const result = command.decide(state);
        if (!isAsserted) {
          throw new Error('The command did not call assertPrecondition, so it would ignore If-Match.');
        }
        return result;
      };
      return wrap({ ...command, decide });
    },
  };
});

/**
 * Makes a command on a path without an ETag, such as a list, fail with 412 if the request has an `If-Match` other than
 * `*`, or if the path supports GET and the request has `If-None-Match: *`. The command itself runs first, because its
 * 404 takes precedence over the 412, while its other errors do not.
 */
function underConditions<Result>(command: Command<Result>, request: FastifyRequest): Command<Result> {
  const decide = (state: State): Result => {
    let result: Result;
    try {
      result = command.decide(state);
    } catch (error) {
      if (error instanceof ApiError && error.status !== 404) {
        assertPathConditions(request);
      }
      throw error;
    }
    assertPathConditions(request);
    return result;
  };
  return { ...command, decide };
}
