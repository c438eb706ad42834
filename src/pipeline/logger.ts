import type { LoggerService } from '@nestjs/common';
import { type Logger, pino } from 'pino';
import type { LogLevel } from '../settings';

/** Lines are written together: at the latest after this time, at the end of the process, or when there are this many bytes. */
const WRITE_MS = 100;
const WRITE_BYTES = 8_192;

/** The one logger of the process: JSON lines on standard output. */
export function createLogger(level: LogLevel): Logger {
  const output = pino.destination({ dest: 1, sync: false, minLength: WRITE_BYTES });
  if (level !== 'silent') {
    setInterval(() => output.flush(), WRITE_MS).unref();
  }
  return pino({ level, base: undefined, timestamp: isoTime }, output);
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
