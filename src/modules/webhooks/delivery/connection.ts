import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** How long an address may be silent before the next one is tried as well (RFC 8305, section 5). */
const NEXT_ADDRESS_MS = 250;

/** What the attempt to connect to an address has come to, by Node's codes; the signal of a deadline aborts silent attempts. */
const OUTCOMES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused the connection',
  ENETUNREACH: 'is unreachable',
  EHOSTUNREACH: 'is unreachable',
  ETIMEDOUT: 'did not answer',
  ABORT_ERR: 'did not answer',
};

/** No address could be connected to. The message says for each of them why. */
export class NoConnectionError extends Error {}

/**
 * Connects to the first address that accepts. Node's own `autoSelectFamily` gives up each address for the next one, so that it
 * would never reach a slow receiver with a second address that is unreachable. Here all of them have time until the signal aborts.
 */
export async function connectToFirst(
  addresses: readonly string[],
  port: number,
  signal: AbortSignal,
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
      return `${addresses[index]} ${OUTCOMES[code] ?? `failed (${code})`}`;
    });
    throw new NoConnectionError(`${outcomes.join(', ')}.`);
  } finally {
    connected.abort();
  }
}
