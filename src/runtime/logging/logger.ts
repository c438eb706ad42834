import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Logger, pino } from 'pino';
import type { LogLevel } from '../../settings';
import { type LogOutput, openLogOutput } from './log-output';

/** Buffered lines are written after this time at the latest. */
const WRITE_MS = 100;

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
  const options = { level, base: undefined, timestamp: isoTime, mixin: context };
  if (typeof output !== 'number') {
    return pino(options, output);
  }
  const destination = openLogOutput(output);
  if (level !== 'silent') {
    setInterval(() => destination.flush(), WRITE_MS).unref();
  }
  const logger = pino(options, destination);
  reportLostLines(destination, logger);
  return logger;
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

let lastTime = 0;
let lastField = '';

/** Like pino's own isoTime, but formatted once per millisecond. */
function isoTime(): string {
  const now = Date.now();
  if (now !== lastTime) {
    lastTime = now;
    lastField = `,"time":"${new Date(now).toISOString()}"`;
  }
  return lastField;
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
