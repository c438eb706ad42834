import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** Delay before the next address is tried in parallel (RFC 8305, section 5). */
const NEXT_ADDRESS_MS = 250;

const OUTCOMES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused the connection',
  ENETUNREACH: 'is unreachable',
  EHOSTUNREACH: 'is unreachable',
  ETIMEDOUT: 'did not answer',
  ABORT_ERR: 'did not answer',
};

export class NoConnectionError extends Error {}

/**
 * Tries one address after the other, and connects to the address that accepts first. A slow attempt continues while the
 * next addresses are tried. Node's `autoSelectFamily` is not used, because it ends a slow attempt before it tries the
 * next address. If the next address is dead, a receiver that accepts only after a few seconds would then never be
 * reached.
 */
export async function connectToFirst(
  addresses: readonly string[],
  port: number,
  signal: AbortSignal,
  shown: (address: string) => string,
): Promise<Socket> {
  const connected = new AbortController();
  const end = AbortSignal.any([signal, connected.signal]);
  const attempts = addresses.map(async (host, index) => {
    if (index > 0) {
      await pause(index * NEXT_ADDRESS_MS, undefined, { signal: end });
    }
    const socket = connect({ host, port, noDelay: true });
    try {
      await once(socket, 'connect', { signal: end });
      return socket;
    } catch (error) {
      socket.destroy();
      throw error;
    }
  });
  try {
    return await Promise.any(attempts);
  } catch (error) {
    const outcomes = (error as AggregateError).errors.map(({ code = '' }: NodeJS.ErrnoException, index) => {
      return `${shown(addresses[index]!)} ${OUTCOMES[code] ?? `failed (${code})`}`;
    });
    throw new NoConnectionError(`${outcomes.join(', ')}.`);
  } finally {
    connected.abort();
  }
}
