import { type ExecutionContext, createParamDecorator } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Origin } from './command';
import type { IdempotentUse } from './idempotency-records';

declare module 'fastify' {
  interface FastifyRequest {
    /** The client id for commands of this request; set when the caller is identified. */
    commandOwner?: number;
    /** Set for a request with an `Idempotency-Key`. */
    idempotentUse?: IdempotentUse;
  }
}

export function ownerOf({ commandOwner }: FastifyRequest): number {
  if (commandOwner === undefined) {
    throw new Error('The request has no identified caller to run a command for.');
  }
  return commandOwner;
}

/** Parameter decorator: the Origin of the commands that a request sends. */
export const SentBy = createParamDecorator((_data: unknown, context: ExecutionContext): Origin => {
  const http = context.switchToHttp();
  const request = http.getRequest<FastifyRequest>();
  const { statusCode } = http.getResponse<FastifyReply>();
  return { owner: ownerOf(request), status: statusCode, use: request.idempotentUse };
});
