import { type ExecutionContext, createParamDecorator } from '@nestjs/common';
import type { FastifyReply } from 'fastify';

/** Parameter decorator: a signal that is aborted when the caller is gone, for whatever takes long. */
export const HungUp = createParamDecorator((_data: unknown, context: ExecutionContext): AbortSignal => {
  const { raw } = context.switchToHttp().getResponse<FastifyReply>();
  const controller = new AbortController();
  raw.once('close', () => controller.abort());
  return controller.signal;
});
