// Whoever uses the server holds a shared advisory lock, on a connection of its own. Whoever leaves stops the server if
// it gets that lock exclusively. The lock of a killed process ends with its connection.
import { statSync } from 'node:fs';
import { Client } from 'pg';
import { type Account } from './account';
import { USER } from './cluster';
import { type DataFolder, FILES, PORT } from './data-folder';
import { codeOf, EmbeddedPostgresError, messageOf } from './errors';
import { stopPostmaster } from './postmaster';

/** How long the server may take for a statement, in milliseconds; a process that stops it may make others wait. */
const PATIENCE = 60_000;
/** Where all users of a server meet, whatever their databases are: advisory locks belong to a database. */
const MAINTENANCE = 'postgres';
const LOCK = 7_366_277_318;

/** Which server is used, and how. */
export interface Access {
  folder: DataFolder;
  account: Account | undefined;
  password: string;
  database: string;
}

/** `unref` lets the process end while it is open; the types of the driver lack it. */
type Connection = Client & { ref(): void; unref(): void };

/** The use of a running server: while its connection lasts, nobody stops the server. */
export interface Lease {
  connection: Connection;
  /** The server's process. */
  pid: number;
}

/**
 * Takes the lock, and creates the database if it is missing.
 *
 * @param pid the server's process according to postmaster.pid
 * @returns why that is not possible yet
 * @throws EmbeddedPostgresError if it rejects the password, or the database cannot be created
 */
export async function takeLease(access: Access, pid: number): Promise<Lease | { reason: string }> {
  const { folder, account, database } = access;
  const connection = connectionTo(access);
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

function connectionTo({ folder, password }: Access): Connection {
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
 * @returns whether it has stopped the server
 */
export async function endLease(folder: DataFolder, { connection, pid }: Lease): Promise<boolean> {
  try {
    await connection.query('SELECT pg_advisory_unlock_shared($1)', [LOCK]);
    const lock = await connection.query<{ isLast: boolean }>('SELECT pg_try_advisory_lock($1) AS "isLast"', [
      LOCK,
    ]);
    if (!lock.rows[0]!.isLast) return false;
    await stopPostmaster(folder, pid);
    return true;
  } catch (error) {
    if (error instanceof EmbeddedPostgresError) throw error;
    // The server has died.
    return false;
  } finally {
    await connection.end().catch(() => undefined);
  }
}
