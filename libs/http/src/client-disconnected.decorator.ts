import { type ExecutionContext, createParamDecorator } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Parameter decorator: a signal that is aborted when the caller disconnects, for operations that may take long. A
 * caller that closes only half of the connection looks the same.
 */
export const ClientDisconnected = createParamDecorator(
  (_data: unknown, context: ExecutionContext): AbortSignal => {
    const http = context.switchToHttp();
    const { socket } = http.getRequest<FastifyRequest>();
    const { raw } = http.getResponse<FastifyReply>();
    const controller = new AbortController();
    const leave = (): void => void socket.destroy();
    socket.once('end', leave);
    raw.once('close', () => {
      socket.off('end', leave);
      controller.abort();
    });
    // It may have left while its key was looked up.
    if (socket.readableEnded) {
      leave();
    }
    if (raw.destroyed) {
      controller.abort();
    }
    return controller.signal;
  },
);
