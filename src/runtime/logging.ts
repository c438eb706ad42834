import cluster from 'node:cluster';
import { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { format } from 'node:util';
import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Logger, pino } from 'pino';
import { loggableError } from '#libs/database';
import type { LogLevel } from '../settings/settings';

/** The log is written when this many bytes are buffered, or every WRITE_MS milliseconds. */
const WRITE_BYTES = 8_192;
const WRITE_MS = 250;
/** Maximum number of buffered bytes. If nobody reads the output, further lines are dropped. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
/**
 * Linux writes up to this many bytes to a pipe at once (PIPE_BUF). A longer write could be mixed with lines of another
 * process.
 */
const PIPE_BYTES = 4_096;
const END_MS = 1_000;

let lost = 0;

export function lostLogLines(): number {
  return lost;
}

export async function openLog(level: LogLevel): Promise<Logger> {
  process.stdout.on('error', () => undefined);
  const logger = createLogger(level, process.stdout.isTTY ? await terminalLog(process.stdout) : 1);
  // Log the warnings that libraries such as ioredis print with `console.warn`.
  Object.assign(console, { warn: (...parts: unknown[]) => logger.warn(format(...parts)) });
  return logger;
}

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

/** Opens the output of the log. If the output is blocked, lines are buffered, so that requests do not wait. */
function openOutput(descriptor: number): ReturnType<typeof pino.destination> {
  const output = pino.destination({
    dest: descriptor,
    sync: false,
    minLength: cluster.isWorker ? PIPE_BYTES / 2 : WRITE_BYTES,
    maxLength: MAX_WAITING_BYTES,
    maxWrite: cluster.isWorker ? PIPE_BYTES : undefined,
    periodicFlush: WRITE_MS,
  });
  // Ignore errors of the output, because Pino would otherwise end the service if the disk is full or if the process
  // that reads the log has ended.
  output.removeAllListeners('error').on('error', () => undefined);
  // Do nothing in `flushSync`, which Pino calls when the process exits, because a blocked output would block the exit.
  output.flushSync = () => undefined;
  return output;
}

/** Writes the last lines before the process ends, but waits at most a second. Never rejects. */
export async function endLog(logger: Logger): Promise<void> {
  const flush = () => new Promise<void>((resolve) => logger.flush(() => resolve()));
  // Flush twice. If a write is in progress, the first flush only waits for that write, and the second flush writes the
  // rest.
  await Promise.race([flush().then(flush), pause(END_MS, undefined, { ref: false })]);
}

/**
 * Parts of Nest whose messages are logged with the level `debug`, because the messages are too many or are reported
 * elsewhere.
 */
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
