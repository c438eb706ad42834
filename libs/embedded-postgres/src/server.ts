// Whoever uses the server holds a shared advisory lock, on a connection of its own. Whoever leaves stops the server if
// it gets that lock exclusively. The lock of a killed process ends with its connection. If two processes start a server
// at once, PostgreSQL's postmaster.pid decides which of them does.
import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { reasonIn } from './binaries';
import { USER } from './cluster';
import { FILES, PORT } from './data-folder';
import { codeOf, EmbeddedPostgresError, messageOf } from './errors';
import {
  findPostmaster,
  launch,
  type Launch,
  type Launched,
  readPostmasterFile,
  removeStaleFiles,
  stopPostmaster,
} from './postmaster';

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

/** Where all users of a server meet, whatever their databases are: advisory locks belong to a database. */
const MAINTENANCE = 'postgres';
const LOCK = 7_366_277_318;

const CONFLICT =
  /lock file ".*" (already exists|is empty)|pre-existing shared memory|could not create shared memory segment: File exists/;

export interface Server extends Omit<Launch, 'native'> {
  password: string;
  database: string;
  /** Prepares the binaries and returns their folder; called only if the server has to be started. */
  binaries: () => Promise<string>;
  log: (line: string) => void;
}

/** `unref` lets the process end while it is open; the types of the driver lack it. */
type Connection = Client & { ref(): void; unref(): void };

/** The use of a running server: while its connection lasts, nobody stops the server. */
interface Lease {
  connection: Connection;
  /** The server's process. */
  pid: number;
}

/**
 * Joins the server of the cluster, and starts it if none runs. One that starts, recovers or stops is waited for.
 *
 * @param signal ends it, and a server it has started; one that runs already is still waited for and joined
 * @throws EmbeddedPostgresError with the server's reason; AbortError
 */
async function join(server: Server, signal?: AbortSignal): Promise<Lease & { adopted: boolean }> {
  const { folder } = server;
  const begin = Date.now();
  let launched: Launched | undefined;
  let reason = 'no response';
  try {
    for (let isReported = false; ; await sleep(10)) {
      const waited = Date.now() - begin;
      const file = readPostmasterFile(folder);
      const lease = file?.isReady ? await takeLease(server, file.pid) : { reason };
      if ('connection' in lease) return { ...lease, adopted: lease.pid !== launched?.pid };
      ({ reason } = lease);
      if (waited > PATIENCE) {
        // It goes on recovering, so that the next start finds it further along.
        launched = undefined;
        throw new EmbeddedPostgresError(
          `PostgreSQL in ${folder.path} has not become ready in ${PATIENCE / 1_000} s (${reason}); ` +
            `if it is recovering, start again later (see ${folder.shown(FILES.log)})`,
        );
      }
      if (launched?.hasEnded()) {
        assertConflict(server, launched.output());
        launched = undefined;
        await sleep(100);
      }
      const isRunning = !launched && findPostmaster(folder) !== undefined;
      if (!isRunning) signal?.throwIfAborted();
      if (!launched && !isRunning) {
        removeStaleFiles(folder, waited > EMPTY_FILE_PATIENCE);
        launched = launch({ ...server, native: await server.binaries() });
      }
      if (waited > 1_000 && !isReported) {
        isReported = true;
        server.log(`PostgreSQL in ${folder.path} is starting up, recovering or stopping; waiting for it`);
      }
    }
  } catch (error) {
    if (launched?.pid && !launched.hasEnded()) await stopPostmaster(folder, launched.pid);
    throw error;
  }
}

/**
 * Sessions of a killed server notice it a moment later, and another process may have been faster. Both show only when
 * the start fails.
 *
 * @throws EmbeddedPostgresError if the server ended for another reason
 */
function assertConflict({ folder }: Server, output: string | undefined): void {
  if (output === undefined || CONFLICT.test(output)) return;
  throw new EmbeddedPostgresError(
    `PostgreSQL does not start in ${folder.path}: ${reasonIn(output)}; see ${folder.shown(FILES.log)}`,
  );
}

/**
 * Takes the lock, and creates the database if it is missing.
 *
 * @param pid the server's process according to postmaster.pid
 * @returns why that is not possible yet
 * @throws EmbeddedPostgresError if it rejects the password, or the database cannot be created
 */
async function takeLease(server: Server, pid: number): Promise<Lease | { reason: string }> {
  const { folder, account, database } = server;
  const connection = connectionTo(server);
  try {
    // The account could name any process in its file, and root would stop that.
    if (account && statSync(`/proc/${pid}`).uid !== account.uid) {
      return { reason: 'postmaster.pid is invalid' };
    }
    await connection.connect();
    // A process that stops the server holds the lock until the server ends this connection, too.
    await connection.query('SELECT pg_advisory_lock_shared($1)', [LOCK]);
    await ensureDatabase(connection, database);
    return { connection, pid };
  } catch (error) {
    await connection.end().catch(() => undefined);
    if (error instanceof EmbeddedPostgresError) throw error;
    // Invalid password or authorization. Everything else may be temporary: still starting, shutting down, refused.
    if (!codeOf(error)?.startsWith('28')) return { reason: messageOf(error) };
    throw new EmbeddedPostgresError(
      `the PostgreSQL server of ${folder.path} refuses the password in ${folder.shown(FILES.password)}; ` +
        'put the right password there',
    );
  }
}

function connectionTo({ folder, password }: Server): Connection {
  const connection = new Client({
    host: folder.cluster,
    port: PORT,
    user: USER,
    password,
    database: MAINTENANCE,
    ssl: false,
    connectionTimeoutMillis: 5_000,
    query_timeout: PATIENCE,
    // An explicit value, because otherwise PGOPTIONS in the application's environment would apply.
    options: '-c client_min_messages=warning',
    application_name: 'embedded-postgres',
  }) as Connection;
  // If the connection breaks, the query fails as well; without a listener the error would end the process.
  connection.on('error', () => undefined);
  return connection;
}

async function ensureDatabase(connection: Client, database: string): Promise<void> {
  const found = await connection.query('SELECT FROM pg_database WHERE datname = $1', [database]);
  if (found.rowCount !== 0) return;
  try {
    await connection.query(`CREATE DATABASE ${connection.escapeIdentifier(database)}`);
  } catch (error) {
    const code = codeOf(error);
    // duplicate_database or unique_violation: another process was faster.
    if (code === '42P04' || code === '23505') return;
    // The server ends, or has ended.
    if (code === undefined || code.startsWith('57')) throw error;
    throw new EmbeddedPostgresError(`cannot create the database "${database}": ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/**
 * Ends the lease, and stops the server if nobody else has one.
 *
 * @returns 'lost' if the connection has ended: then so has the lease, but the server may recover
 */
async function endLease(
  { folder }: Server,
  { connection, pid }: Lease,
): Promise<'stopped' | 'left' | 'lost'> {
  connection.ref();
  try {
    await connection.query('SELECT pg_advisory_unlock_shared($1)', [LOCK]);
    const lock = await connection.query<{ isLast: boolean }>('SELECT pg_try_advisory_lock($1) AS "isLast"', [
      LOCK,
    ]);
    if (!lock.rows[0]!.isLast) return 'left';
    await stopPostmaster(folder, pid);
    return 'stopped';
  } catch (error) {
    if (error instanceof EmbeddedPostgresError) throw error;
    return 'lost';
  } finally {
    await connection.end().catch(() => undefined);
  }
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
    // The crash of one session ends all of them, leases too, while the server recovers and would run on.
    let lease = this.lease ?? (await this.joinRunning());
    while (lease) {
      const end = await endLease(this.server, lease);
      if (end === 'stopped') log(`PostgreSQL in ${folder.path} stopped`);
      lease = end === 'lost' ? await this.joinRunning() : undefined;
    }
    folder.close();
  }

  /** @returns undefined if the server does not run, or does not become ready */
  private async joinRunning(): Promise<Lease | undefined> {
    try {
      return await join(this.server, this.stopping.signal);
    } catch (error) {
      if (error instanceof EmbeddedPostgresError) this.server.log(error.message);
      return undefined;
    }
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
