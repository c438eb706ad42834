import cluster from 'node:cluster';
import { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { format } from 'node:util';
import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Logger, pino } from 'pino';
import { loggableError } from '#libs/database';
import type { LogLevel } from '../settings';

/** Lines are buffered until there are this many bytes, or this much time has passed. */
const WRITE_BYTES = 8_192;
const WRITE_MS = 250;
/** How much is buffered while nobody reads the output. More is dropped, so that a stalled reader cannot exhaust memory. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
/** Linux writes this much to a pipe atomically (PIPE_BUF). Longer writes could mix with those of another worker. */
const PIPE_BYTES = 4_096;
/** How long the end of the process waits for the last lines. */
const END_MS = 1_000;

let lost = 0;

export function lostLogLines(): number {
  return lost;
}

/** The one logger of a service, on its standard output: JSON lines, or readable ones on a terminal. */
export async function openLog(level: LogLevel): Promise<Logger> {
  // A closed output must not stop the service.
  process.stdout.on('error', () => undefined);
  const logger = createLogger(level, process.stdout.isTTY ? await terminalLog(process.stdout) : 1);
  // What a library prints, as ioredis does, is a line of the log.
  Object.assign(console, { warn: (...parts: unknown[]) => logger.warn(format(...parts)) });
  return logger;
}

/** @param output a file descriptor, or a stream that takes each line immediately */
export function createLogger(level: LogLevel, output: number | DestinationStream): Logger {
  const base = cluster.worker && { worker: cluster.worker.id };
  const serializers = { err: loggableError };
  const options = { level, base, serializers, timestamp: pino.stdTimeFunctions.isoTime };
  if (typeof output !== 'number') {
    return pino(options, output);
  }
  const destination = openOutput(output);
  const logger = pino(options, destination);
  let reported = lost;
  destination.on('drop', () => (lost += 1));
  destination.on('drain', () => {
    if (lost > reported) {
      logger.warn({ lostLines: lost - reported }, 'Log lines were dropped because nothing read the log.');
      reported = lost;
    }
  });
  return logger;
}

/** If it cannot be written to, lines are buffered, and neither requests nor the end of the process are affected. */
function openOutput(descriptor: number): ReturnType<typeof pino.destination> {
  const output = pino.destination({
    dest: descriptor,
    sync: false,
    minLength: cluster.isWorker ? PIPE_BYTES / 2 : WRITE_BYTES,
    maxLength: MAX_WAITING_BYTES,
    maxWrite: cluster.isWorker ? PIPE_BYTES : undefined,
    periodicFlush: WRITE_MS,
  });
  // With pino's own listener, a full disk or a closed reader would end the service.
  output.removeAllListeners('error').on('error', () => undefined);
  // Pino calls it when the process exits, and it would try for ever. `endLog` writes the last lines.
  output.flushSync = () => undefined;
  return output;
}

/** Writes the last lines before the process ends. Gives up if that fails or takes more than a second; never rejects. */
export async function endLog(logger: Logger): Promise<void> {
  const flush = () => new Promise<void>((resolve) => logger.flush(() => resolve()));
  // The first one only waits for a write that is under way.
  await Promise.race([flush().then(flush), pause(END_MS, undefined, { ref: false })]);
}

/** Parts of Nest that log each step of a start, or a failed one, which is already one line on standard error. */
const TALKATIVE = new Set<unknown>([
  ...['InstanceLoader', 'RoutesResolver', 'RouterExplorer', 'NestFactory', 'NestApplication'],
  ...['TypeOrmModule', 'ExceptionHandler'],
]);

export function nestLogger(logger: Logger): LoggerService {
  const at =
    (level: Exclude<LogLevel, 'silent'>) =>
    (message: unknown, ...rest: unknown[]): void => {
      const context = rest.at(-1);
      const write = (fields: object, text?: string) =>
        logger[TALKATIVE.has(context) ? 'debug' : level]({ ...fields, context }, text);
      if (typeof message === 'string') {
        write({}, message);
      } else {
        write(message instanceof Error ? { err: message } : (message as object));
      }
    };
  return {
    log: at('info'),
    error: at('error'),
    warn: at('warn'),
    debug: at('debug'),
    verbose: at('trace'),
    fatal: at('fatal'),
  };
}

/** Readable lines for a person, who waits for them. The formatter is loaded only here. */
export async function terminalLog(terminal: Writable): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty');
  return pretty({
    destination: new Writable({
      write: (chunk, encoding, done) => terminal.write(chunk, encoding, () => done()),
    }),
    translateTime: 'SYS:HH:MM:ss.l',
    messageFormat: '{msg}{if status}: {method} {operation} {status} in {ms} ms{end}',
    ignore: 'method,operation,status,ms',
    singleLine: true,
  });
}
