import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Logger, pino } from 'pino';
import type { LogLevel } from '../settings';
import { type LogOutput, openLogOutput } from './log-output';

/** What waits is written after this time at the latest. */
const WRITE_MS = 100;

let lostInAll = 0;

/** How many lines of this process's logs nobody will read. */
export function lostLogLines(): number {
  return lostInAll;
}

/**
 * The one logger of the process: a JSON line for each message.
 * @param output a file descriptor, standard output by itself; or what takes each line at once
 * @param context what every line is to carry, asked for whenever one is written
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
  tellOfLostLines(destination, logger);
  return logger;
}

function tellOfLostLines(output: LogOutput, logger: Logger): void {
  let lostLines = 0;
  output.on('drop', () => {
    lostLines += 1;
    lostInAll += 1;
  });
  output.on('drain', () => {
    if (lostLines > 0) {
      const told = lostLines;
      lostLines = 0;
      logger.warn({ lostLines: told }, 'Lines of this log are lost, because nobody read it.');
    }
  });
}

let lastTime = 0;
let lastField = '';

/** As pino's own isoTime, but written once for all lines of a millisecond. */
function isoTime(): string {
  const now = Date.now();
  if (now !== lastTime) {
    lastTime = now;
    lastField = `,"time":"${new Date(now).toISOString()}"`;
  }
  return lastField;
}

/** Parts of Nest that tell what they do at every start; of use to whoever looks for a fault in the wiring only. */
const TALKATIVE = new Set([
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestFactory',
  'NestApplication',
]);

/** Parts of Nest that tell of a start that failed; whoever started it is told so in one line on standard error. */
const TOLD_ELSEWHERE = new Set(['TypeOrmModule', 'ExceptionHandler', 'NestApplication']);

/** Nest's own messages, through the same logger. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.write(TALKATIVE.has(String(rest.at(-1))) ? 'debug' : 'info', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.write(TOLD_ELSEWHERE.has(String(rest.at(-1))) ? 'debug' : 'error', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  private write(
    level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal',
    message: unknown,
    rest: unknown[],
  ) {
    const context = rest.at(-1);
    const fields = typeof message === 'object' && message !== null ? message : {};
    const text = typeof message === 'string' ? message : undefined;
    this.logger[level]({ ...fields, context: typeof context === 'string' ? context : undefined }, text);
  }
}
