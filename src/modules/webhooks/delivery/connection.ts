import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** If an address does not answer within this time, the next address is tried as well (RFC 8305, section 5). */
const NEXT_ADDRESS_MS = 250;

/** Descriptions of failed connections, by Node's error code. ABORT_ERR means that a deadline ended a silent attempt. */
const OUTCOMES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused the connection',
  ENETUNREACH: 'is unreachable',
  EHOSTUNREACH: 'is unreachable',
  ETIMEDOUT: 'did not answer',
  ABORT_ERR: 'did not answer',
};

export class NoConnectionError extends Error {}

/**
 * Connects to the first address that accepts. Each attempt may last until `signal` aborts. Node's own `autoSelectFamily` gives up
 * an address when it tries the next, and so would never reach a slow receiver whose second address is unreachable.
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
