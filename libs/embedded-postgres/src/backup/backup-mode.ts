import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { EmbeddedPostgresError } from '../errors';

/** A WAL file: timeline and position as 24 hexadecimal digits. */
const LOG_FILE = /^[0-9A-F]{24}$/;

/** What a backup contains in addition to the files of the cluster. */
export interface BackupEnd {
  /** The content of the file `backup_label`, where recovery begins. */
  label: string;
  /** Names of the files in `pg_wal` that recovery needs. */
  logFiles: string[];
}

/**
 * Online backup through SQL; source: PostgreSQL's manual, "Making a Base Backup Using the Low Level API". All changes
 * on the server belong to one session and end with it: the backup mode, and a temporary replication slot that keeps the
 * WAL. So nothing is left behind, whatever happens to this process.
 */
export class BackupMode {
  private firstLogFile = '';

  private constructor(
    private readonly client: Client,
    /** PostgreSQL's data directory. */
    readonly cluster: string,
    /** The version of PostgreSQL, e.g. '18.4'. */
    readonly version: string,
  ) {}

  static async open(url: string): Promise<BackupMode> {
    const client = new Client({
      connectionString: url,
      ssl: false,
      keepAlive: true,
      application_name: 'backup',
    });
    // If the connection breaks, the next statement fails as well.
    client.on('error', () => undefined);
    await client.connect();
    try {
      const { rows } = await client.query<{ cluster: string; version: string; spaces: number }>(
        `SELECT current_setting('data_directory') AS cluster, current_setting('server_version') AS version,
          (SELECT count(*)::int FROM pg_tablespace WHERE spcname NOT IN ('pg_default', 'pg_global')) AS spaces`,
      );
      const { cluster, version, spaces } = rows[0]!;
      if (spaces > 0) {
        throw new EmbeddedPostgresError(
          `${cluster} has tablespaces elsewhere, which a backup would miss; use pg_basebackup`,
        );
      }
      return new BackupMode(client, cluster, version.split(' ')[0]!);
    } catch (error) {
      await client.end();
      throw error;
    }
  }

  /**
   * Starts the backup; files may be copied afterwards. Begins with an immediate checkpoint, which writes what is in
   * memory.
   */
  async begin(): Promise<void> {
    const slot = `backup_${randomBytes(8).toString('hex')}`;
    await this.client.query(`SELECT pg_create_physical_replication_slot($1, true, true)`, [slot]);
    const { rows } = await this.client.query<{ file: string }>(
      `SELECT pg_walfile_name(pg_backup_start('backup', fast => true)) AS file`,
    );
    this.firstLogFile = rows[0]!.file;
  }

  /** Ends the backup. The copy, together with these WAL files, contains everything committed before. */
  async end(): Promise<BackupEnd> {
    const { rows } = await this.client.query<{ label: string; file: string }>(
      `SELECT labelfile AS label, pg_walfile_name(lsn) AS file FROM pg_backup_stop(wait_for_archive => false)`,
    );
    const { label, file: lastLogFile } = rows[0]!;
    const logFiles = (await readdir(join(this.cluster, 'pg_wal')))
      .filter((name) => LOG_FILE.test(name) && name >= this.firstLogFile && name <= lastLogFile)
      .sort();
    if (logFiles[0] !== this.firstLogFile) {
      throw new EmbeddedPostgresError(
        `${this.cluster} no longer has the log from the beginning of the backup; try again`,
      );
    }
    return { label, logFiles };
  }

  /** Ends the session, and with it an unfinished backup. */
  async close(): Promise<void> {
    await this.client.end().catch(() => undefined);
  }
}
