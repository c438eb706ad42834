import cluster from 'node:cluster';
import { type Logger, pino } from 'pino';

/** Lines are buffered until there are this many bytes, until a flush, or until the process ends. */
const WRITE_BYTES = 8_192;
/** How much is buffered while nobody reads the output. More is dropped, so that a stalled reader cannot exhaust memory. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
/** Linux writes this much to a pipe atomically (PIPE_BUF). Longer writes could mix with those of another worker. */
const PIPE_BYTES = 4_096;
/** How long the end of the process waits for the last lines. */
const END_MS = 1_000;

export type LogOutput = ReturnType<typeof pino.destination>;

/** Opens a file descriptor for log lines. If it cannot be written to, lines are buffered and requests are not affected. */
export function openLogOutput(descriptor: number): LogOutput {
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
 * A full disk or a closed reader must not end the service, as it would with pino's own listener. When the process exits,
 * `flushSync` retries until it succeeds, which would block forever, so it is only called while writing works.
 */
function surviveFailures(output: LogOutput): void {
  const flushSync = output.flushSync.bind(output);
  output.removeAllListeners('error');
  output.on('error', () => giveUpAtExit(output));
  output.on('write', () => (output.flushSync = flushSync));
}

function giveUpAtExit(output: Pick<LogOutput, 'flushSync'>): void {
  output.flushSync = () => undefined;
}

/** Writes the last lines before the process ends. Gives up if that fails or takes more than a second; never rejects. */
export async function endLog(logger: Logger): Promise<void> {
  const output = (logger as unknown as Record<symbol, Partial<LogOutput>>)[pino.symbols.streamSym]!;
  if (output.flushSync === undefined) {
    return;
  }
  let late: NodeJS.Timeout | undefined;
  const written = await Promise.race([
    // fsync fails on a pipe although the lines are written.
    new Promise<boolean>((resolve) =>
      logger.flush((error?: NodeJS.ErrnoException) => resolve(error?.syscall !== 'write')),
    ),
    new Promise<boolean>((resolve) => (late = setTimeout(resolve, END_MS, false))),
  ]);
  clearTimeout(late);
  if (!written) {
    giveUpAtExit(output as LogOutput);
  }
}
