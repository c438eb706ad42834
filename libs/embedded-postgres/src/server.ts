import { setTimeout as sleep } from 'node:timers/promises';
import { FILES } from './data-folder';
import { EmbeddedPostgresError, messageOf } from './errors';
import { type Access, endLease, type Lease, takeLease } from './lease';
import {
  findPostmaster,
  launch,
  type Launch,
  type Launched,
  readPostmasterFile,
  removeStaleFiles,
  stopPostmaster,
} from './postmaster';
import { reasonIn } from './program';

/**
 * How long a server may take to respond, in milliseconds, and how long the sessions of a killed server may block its
 * start. Both can take a while: recovery after a crash, and statements that notice the crash only when they end.
 */
const PATIENCE = 60_000;
/** How long a postmaster.pid may be empty before it counts as left over from a power failure, in milliseconds. */
const EMPTY_FILE_PATIENCE = 2_000;
/** The pauses between attempts to restart a server, in milliseconds; each is twice the one before. */
const MIN_PAUSE = 500;
const MAX_PAUSE = 30_000;

const CONFLICT =
  /lock file ".*" (already exists|is empty)|pre-existing shared memory|could not create shared memory segment: File exists/;

export interface Server extends Access, Omit<Launch, 'native'> {
  /** Prepares the binaries and returns their folder; called only if the server has to be started. */
  binaries: () => Promise<string>;
  log: (line: string) => void;
}

/** The server is slow, and not in vain. */
class NotReadyError extends EmbeddedPostgresError {}

/**
 * Joins the server of the cluster, and starts it if none runs. One that starts, recovers or stops is waited for. If two
 * processes start it at once, PostgreSQL's postmaster.pid decides which of them does.
 *
 * @throws EmbeddedPostgresError with the server's reason; AbortError
 */
async function join(server: Server, signal?: AbortSignal): Promise<Lease & { adopted: boolean }> {
  const { folder } = server;
  const begin = Date.now();
  let launched: Launched | undefined;
  let reason = 'no response';
  try {
    for (let isReported = false; ; await sleep(10, undefined, { signal })) {
      const waited = Date.now() - begin;
      const file = readPostmasterFile(folder);
      const lease = file?.isReady ? await takeLease(server, file.pid) : { reason };
      if ('connection' in lease) return { ...lease, adopted: lease.pid !== launched?.pid };
      ({ reason } = lease);
      if (waited > PATIENCE) throw new NotReadyError(notReady(server, reason));
      if (launched?.hasEnded()) {
        assertConflict(server, launched.output());
        launched = undefined;
        await sleep(100, undefined, { signal });
      }
      if (!launched && !findPostmaster(folder)) {
        removeStaleFiles(folder, waited > EMPTY_FILE_PATIENCE);
        launched = launch({ ...server, native: await server.binaries() });
      }
      if (waited > 1_000 && !isReported) {
        isReported = true;
        server.log(`PostgreSQL in ${folder.path} is starting up, recovering or stopping; waiting for it`);
      }
    }
  } catch (error) {
    // One that recovers goes on, so that the next start finds it further along.
    if (launched?.pid && !launched.hasEnded() && !(error instanceof NotReadyError)) {
      await stopPostmaster(folder, launched.pid);
    }
    throw error;
  }
}

function notReady({ folder }: Server, reason: string): string {
  return (
    `PostgreSQL in ${folder.path} has not become ready in ${PATIENCE / 1_000} s (${reason}); ` +
    `if it is recovering, start again later (see ${folder.shown(FILES.log)})`
  );
}

/**
 * Sessions of a killed server notice it a moment later, and another process may have been faster. Both show only when
 * the start fails.
 *
 * @throws EmbeddedPostgresError if the server ended for another reason
 */
function assertConflict({ folder }: Server, output: string): void {
  if (CONFLICT.test(output)) return;
  throw new EmbeddedPostgresError(
    `PostgreSQL does not start in ${folder.path}: ${reasonIn(output)}; see ${folder.shown(FILES.log)}`,
  );
}

/** A server that this process uses. */
export class SharedServer {
  private readonly stopping = new AbortController();
  private restarting: Promise<void> = Promise.resolve();
  private stopped: Promise<void> | undefined;
  private lease: Lease | undefined;

  private constructor(
    private readonly server: Server,
    private readonly supervise: boolean,
    /** Whether the server was already running. */
    readonly adopted: boolean,
    lease: Lease,
  ) {
    this.keep(lease);
  }

  /** @param supervise restarts the server when it dies */
  static async join(server: Server, supervise: boolean): Promise<SharedServer> {
    const { adopted, ...lease } = await join(server);
    return new SharedServer(server, supervise, adopted, lease);
  }

  /** Stops using the server, once; the last user stops it. */
  stop(): Promise<void> {
    return (this.stopped ??= this.leave());
  }

  private async leave(): Promise<void> {
    const { folder, log } = this.server;
    this.stopping.abort();
    await this.restarting;
    this.lease?.connection.ref();
    if (this.lease && (await endLease(folder, this.lease))) log(`PostgreSQL in ${folder.path} stopped`);
    folder.close();
  }

  /** Does not keep the process alive. */
  private keep(lease: Lease): void {
    this.lease = lease;
    lease.connection.unref();
    lease.connection.once('end', () => {
      this.lease = undefined;
      if (this.supervise && !this.stopping.signal.aborted) this.restarting = this.restart();
    });
  }

  /** Reports failed attempts and repeats them after increasing pauses, until one succeeds. */
  private async restart(): Promise<void> {
    const { server } = this;
    const { signal } = this.stopping;
    for (let pause = MIN_PAUSE; !signal.aborted; pause = Math.min(pause * 2, MAX_PAUSE)) {
      try {
        this.keep(await join(server, signal));
        server.log(`PostgreSQL in ${server.folder.path} had died and is running again`);
        return;
      } catch (error) {
        if (signal.aborted) return;
        server.log(`PostgreSQL died and is not back: ${messageOf(error)}`);
      }
      await sleep(pause, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}
