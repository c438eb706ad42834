import { Writable } from 'node:stream';
import type { DestinationStream } from 'pino';
import { terminalOf } from '../messages';

type Environment = Readonly<Record<string, string | undefined>>;

/** Fields that the message already contains. */
const SAID_IN_WORDS = 'method,operation,status,ms';

/**
 * A readable log if the stream is a terminal; undefined otherwise, because programs read JSON. The formatter is loaded
 * only then. Lines are written immediately: a person waits for them.
 */
export async function terminalLog(
  stream: Writable & { isTTY?: boolean },
  environment: Environment,
): Promise<DestinationStream | undefined> {
  if (!stream.isTTY) {
    return undefined;
  }
  const { default: pretty } = await import('pino-pretty');
  return pretty({
    destination: new Writable({ write: (chunk, encoding, done) => stream.write(chunk, encoding, done) }),
    colorize: terminalOf(stream, environment).colours,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: SAID_IN_WORDS,
    messageFormat: inWords,
    singleLine: true,
  });
}

function inWords({ msg = '', method, operation, status, ms }: Record<string, unknown>): string {
  const words = ms === undefined ? [msg] : [method, operation, status, 'in', ms, 'ms'];
  return words.join(' ');
}
