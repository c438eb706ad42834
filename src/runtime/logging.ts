import cluster from 'node:cluster';
import { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Logger, pino } from 'pino';
import type { LogLevel } from '../settings';
import type { Environment } from './environment';

/** Buffered lines are written after this time at the latest. */
const WRITE_MS = 100;
/** Lines are buffered until there are this many bytes. */
const WRITE_BYTES = 8_192;
/** How much is buffered while nobody reads the output. More is dropped, so that a stalled reader cannot exhaust memory. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
/** Linux writes this much to a pipe atomically (PIPE_BUF). Longer writes could mix with those of another worker. */
const PIPE_BYTES = 4_096;
/** How long the end of the process waits for the last lines. */
const END_MS = 1_000;

type LogOutput = ReturnType<typeof pino.destination>;

let lostInAll = 0;

/** How many log lines of this process were lost. */
export function lostLogLines(): number {
  return lostInAll;
}

/**
 * The one logger of the process: a JSON line for each message.
 * @param output a file descriptor (default: standard output), or a stream that takes each line immediately
 * @param context returns additional fields; called for every line
 */
export function createLogger(
  level: LogLevel,
  output: number | DestinationStream = 1,
  context?: () => object,
): Logger {
  const base = cluster.worker && { worker: cluster.worker.id };
  const options = { level, base, timestamp: pino.stdTimeFunctions.isoTime, mixin: context };
  if (typeof output !== 'number') {
    return pino(options, output);
  }
  const destination = openLogOutput(output);
  const logger = pino({ ...options, hooks: { streamWrite: flushSoon(destination) } }, destination);
  reportLostLines(destination, logger);
  return logger;
}

/** Unlike `periodicFlush`, it wakes no process that logs nothing. */
function flushSoon(output: LogOutput): (line: string) => string {
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    timer = undefined;
    output.flush();
  };
  return (line) => {
    timer ??= setTimeout(flush, WRITE_MS).unref();
    return line;
  };
}

function reportLostLines(output: LogOutput, logger: Logger): void {
  let lostLines = 0;
  output.on('drop', () => {
    lostLines += 1;
    lostInAll += 1;
  });
  output.on('drain', () => {
    if (lostLines > 0) {
      logger.warn({ lostLines }, 'Log lines were dropped because nothing read the log.');
      lostLines = 0;
    }
  });
}

/** Opens a file descriptor for log lines. If it cannot be written to, lines are buffered and requests are not affected. */
function openLogOutput(descriptor: number): LogOutput {
  const output = pino.destination({
    dest: descriptor,
    sync: false,
    minLength: cluster.isWorker ? PIPE_BYTES / 2 : WRITE_BYTES,
    maxLength: MAX_WAITING_BYTES,
    maxWrite: cluster.isWorker ? PIPE_BYTES : undefined,
  });
  surviveFailures(output);
  return output;
}

/**
 * A full disk or a closed reader must not end the service, as it would with pino's own listener. When the process exits, pino
 * calls `flushSync`, which would then retry for ever.
 */
function surviveFailures(output: LogOutput): void {
  output.removeAllListeners('error');
  output.on('error', () => giveUpAtExit(output));
}

function giveUpAtExit(output: Pick<LogOutput, 'flushSync'>): void {
  output.flushSync = () => undefined;
}

/** Writes the last lines before the process ends. Gives up if that fails or takes more than a second; never rejects. */
export async function endLog(logger: Logger): Promise<void> {
  const output = (logger as unknown as Record<symbol, Partial<LogOutput>>)[pino.symbols.streamSym]!;
  if (output.flushSync !== undefined) {
    const written = new Promise<void>((resolve) => logger.flush(() => resolve()));
    await Promise.race([written, pause(END_MS, undefined, { ref: false })]);
    giveUpAtExit(output as LogOutput);
  }
}

/** Parts of Nest that log each step of every start; useful only to debug the wiring of modules. */
const TALKATIVE = new Set([
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestFactory',
  'NestApplication',
]);

/** Parts of Nest that report a failed start, which is already one line on standard error. */
const REPORTED_ELSEWHERE = new Set(['TypeOrmModule', 'ExceptionHandler', 'NestApplication']);

/** Nest's own messages, through the same logger. */
export function nestLogger(logger: Logger): LoggerService {
  const at =
    (level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal', quiet = new Set<string>()) =>
    (message: unknown, ...rest: unknown[]): void => {
      const context = typeof rest.at(-1) === 'string' ? (rest.at(-1) as string) : undefined;
      const fields = typeof message === 'object' && message !== null ? message : {};
      const text = typeof message === 'string' ? message : undefined;
      logger[quiet.has(context ?? '') ? 'debug' : level]({ ...fields, context }, text);
    };
  return {
    log: at('info', TALKATIVE),
    error: at('error', REPORTED_ELSEWHERE),
    warn: at('warn'),
    debug: at('debug'),
    verbose: at('trace'),
    fatal: at('fatal'),
  };
}

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
    // https://no-color.org
    colorize: !environment.NO_COLOR && environment.TERM !== 'dumb',
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
