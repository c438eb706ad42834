import cluster from 'node:cluster';
import { type Logger, pino } from 'pino';

/** Lines are written together: when there are this many bytes, when it is told to flush, or at the end of the process. */
const WRITE_BYTES = 8_192;
/** What waits while nobody reads the output. What comes beyond it is lost, so that a stalled reader does not cost the service its memory. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
/** What a pipe takes in one piece on Linux (PIPE_BUF): more could be torn apart by what another worker writes. */
const PIPE_BYTES = 4_096;
/** How long the end of the process waits for the last lines. */
const END_MS = 1_000;

export type LogOutput = ReturnType<typeof pino.destination>;

/** Opens a file descriptor to write log lines to. One that cannot be written to keeps them waiting, and disturbs nobody. */
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
 * A full disk or a reader who is gone must not end the service. pino's own listener would let all but a broken pipe do
 * so. At the exit of the process `flushSync` tries again until it succeeds, which then is for ever, with all else at a
 * standstill: it is only called while writing works.
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

/** Writes the last lines of a log, before its process ends. Gives them up where that fails or takes over a second; never rejects. */
export async function endLog(logger: Logger): Promise<void> {
  const output = (logger as unknown as Record<symbol, Partial<LogOutput>>)[pino.symbols.streamSym]!;
  if (output.flushSync === undefined) {
    return;
  }
  let late: NodeJS.Timeout | undefined;
  const written = await Promise.race([
    // A pipe cannot be synchronised to a disk, which is told of as well: its lines are written all the same.
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
