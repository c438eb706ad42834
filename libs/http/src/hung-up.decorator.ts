import { type ExecutionContext, createParamDecorator } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

/** Parameter decorator: a signal that is aborted when the caller is gone, for whatever takes long. */
export const HungUp = createParamDecorator((_data: unknown, context: ExecutionContext): AbortSignal => {
  const { socket } = context.switchToHttp().getRequest<FastifyRequest>();
  const controller = new AbortController();
  const hangUp = (): void => controller.abort();
  // With half of the connection closed nobody knows whether somebody still reads, and the feed can be asked again.
  socket.once('end', hangUp).once('close', hangUp);
  const { raw } = context.switchToHttp().getResponse<{ raw: NodeJS.EventEmitter }>();
  raw.once('close', () => socket.off('end', hangUp).off('close', hangUp));
  return controller.signal;
});
