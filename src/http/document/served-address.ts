import type { FastifyRequest } from 'fastify';

/** The address in the texts that are served; each caller sees the one that it used instead. */
export const SHOWN_ADDRESS = 'http://127.0.0.1:3000';

const HOST = /^([a-z0-9._~-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?$/i;

/** Where the caller reached the service; a `Host` that is none is replaced by the address of the connection. */
export function addressOf(request: FastifyRequest): string {
  const { protocol, host, prefix, socket } = request;
  const named = `${protocol === 'https' ? 'https' : 'http'}://${host}`;
  const isHost = HOST.test(host) && URL.canParse(named);
  return (isHost ? new URL(named).origin : `http://127.0.0.1:${socket.localPort}`) + prefix;
}

/** The way from a page to the root of the service, which may have a prefix: links of pages are relative to it. */
export function rootFrom(path: string): string {
  return '../'.repeat(path.split('/').length - 2) || './';
}
