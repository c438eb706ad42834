import { setTimeout as sleep } from 'node:timers/promises';
import { askServer, type Question } from './connection';
import { FILES } from './data-folder';
import { EmbeddedPostgresError } from './errors';
import { choosePort, rememberPort } from './port';
import { launch, type Launched, type LaunchOptions, stopPostmaster } from './postmaster';
import { findPostmaster, readPostmasterFile, removeStaleFile } from './postmaster-file';
import { reasonIn } from './program';
import { logSince, logSize, rotateLog } from './server-log';

/** How long a server may take until it answers, in milliseconds; recovery after a crash can take a while. */
const READY_PATIENCE = 60_000;
/** How long the rest of a server which was killed may stand in the way of a new one, in milliseconds. */
const CONFLICT_PATIENCE = 15_000;
/** How long a postmaster.pid may be empty before it counts as left by a power failure, in milliseconds. */
const EMPTY_FILE_PATIENCE = 2_000;

const CONFLICT =
  /lock file ".*" (already exists|is empty)|pre-existing shared memory|could not create shared memory segment: File exists/;
const PORT_TAKEN = /could not bind|could not create any TCP\/IP sockets/;

export interface ServerOptions extends Omit<LaunchOptions, 'port' | 'native'> {
  password: string;
  database: string;
  /** The folder of the binaries, made ready when it is needed: not for a server which runs already. */
  native: () => Promise<string>;
  log: (line: string) => void;
  /** The only port which will do; undefined: any. */
  port?: number;
}

/** A server which answers. `adopted`: it ran already. */
export interface RunningServer {
  port: number;
  adopted: boolean;
}

/**
 * Adopts the server of the cluster if it runs, starts it otherwise, and waits until it answers and has the
 * database. To be used under the lock only.
 *
 * @throws EmbeddedPostgresError with the reason of the server
 */
export async function ensureRunning(options: ServerOptions): Promise<RunningServer> {
  const begin = Date.now();
  const taken = new Set<number>();
  for (;;) {
    const port = await adopt(options);
    if (port !== undefined) return { port: demanded(options, port), adopted: true };
    removeStaleFile(options.cluster, Date.now() - begin > EMPTY_FILE_PATIENCE);
    const attempt = await start(options, taken);
    if (attempt.port !== undefined) return { port: attempt.port, adopted: false };
    // A server which was killed leaves sessions which notice a moment later, and one which somebody else has
    // just started may not have said so yet. Both show only when the start fails.
    const passing = CONFLICT.test(attempt.output) || PORT_TAKEN.test(attempt.output);
    if (!passing || Date.now() - begin > CONFLICT_PATIENCE) {
      throw new EmbeddedPostgresError(
        `PostgreSQL does not start in ${options.cluster}: ${attempt.failure ?? reasonIn(attempt.output)}; ` +
          `see ${options.folder.file(FILES.log)}`,
      );
    }
    await sleep(100);
  }
}

/** @throws EmbeddedPostgresError when the server runs on another port than it has to */
function demanded({ cluster, port: only = 0 }: ServerOptions, port: number): number {
  if (only === 0 || only === port) return port;
  throw new EmbeddedPostgresError(
    `PostgreSQL in ${cluster} now runs on port ${port} instead of ${only}; start this program again`,
  );
}

async function adopt(options: ServerOptions): Promise<number | undefined> {
  const found = findPostmaster(options.cluster);
  if (!found) return undefined;
  return waitUntilReady(options, found.pid, () => findPostmaster(options.cluster)?.pid !== found.pid);
}

interface Attempt {
  port?: number;
  output: string;
  failure?: string | undefined;
}

async function start(options: ServerOptions, taken: Set<number>): Promise<Attempt> {
  const native = await options.native();
  const port = await choosePort(options.folder, taken, options.port);
  rotateLog(options.folder);
  const logStart = logSize(options.folder);
  const launched = await launch({ ...options, native, port });
  if (await isReady(options, launched, native)) {
    rememberPort(options.folder, port);
    return { port, output: '' };
  }
  const output = logSince(options.folder, logStart);
  if (PORT_TAKEN.test(output)) taken.add(port);
  return { output, failure: launched.failure() };
}

async function isReady(options: ServerOptions, launched: Launched, native: string): Promise<boolean> {
  if (launched.pid === undefined) {
    // The event which says why comes a moment later.
    await sleep(0);
    return false;
  }
  try {
    return (await waitUntilReady(options, launched.pid, launched.hasEnded)) !== undefined;
  } catch (error) {
    // One that still recovers is left to it: the next start finds it further on.
    if (!(error instanceof StillStartingError))
      await stopPostmaster(options.cluster, native).catch(() => undefined);
    throw error;
  }
}

class StillStartingError extends EmbeddedPostgresError {}

/** @returns the port, undefined if the server ended before it was ready */
async function waitUntilReady(
  options: ServerOptions,
  pid: number,
  hasEnded: () => boolean,
): Promise<number | undefined> {
  const begin = Date.now();
  for (let told = false; !hasEnded(); await sleep(10)) {
    const file = readPostmasterFile(options.cluster);
    if (file?.pid === pid && file.ready && file.port && (await isOurs(options, file.port))) return file.port;
    const waited = Date.now() - begin;
    if (waited > READY_PATIENCE) {
      throw new StillStartingError(
        `PostgreSQL in ${options.cluster} has not become ready in ${READY_PATIENCE / 1000} s; ` +
          `it goes on recovering, start again later (see ${options.folder.file(FILES.log)})`,
      );
    }
    if (waited > 1_000 && !told) {
      told = true;
      options.log(`PostgreSQL in ${options.cluster} is starting up or recovering; waiting for it`);
    }
  }
  return undefined;
}

async function isOurs({ folder, ...options }: ServerOptions, port: number): Promise<boolean> {
  const question: Question = { ...options, port };
  const answer = await askServer(question);
  if (answer === 'another') {
    throw new EmbeddedPostgresError(
      `the PostgreSQL server of ${options.cluster} on port ${port} refuses the password in ` +
        `${folder.file(FILES.password)}; put the right password there`,
    );
  }
  return answer === 'ours';
}
