import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { FILES } from './data-folder';
import { asEmbeddedPostgresError, codeOf } from './errors';
import { findPostmaster } from './postmaster';
import { urlOf } from './server';

/** The data of a folder, found without changing anything. */
export interface FoundData {
  /** PostgreSQL's data directory. */
  cluster: string;
  /** The address of the server; undefined if none runs. */
  url: string | undefined;
}

/**
 * Examines a folder of `startEmbeddedPostgres`. Creates and starts nothing.
 *
 * @returns undefined if there are no data
 * @throws EmbeddedPostgresError if this user may not read it
 */
export function findData(dataDirectory: string, database: string): FoundData | undefined {
  const path = resolve(dataDirectory);
  try {
    const location = whereThere(() => readFileSync(join(path, FILES.location), 'utf8').trim());
    const base = location ?? path;
    const cluster = join(base, FILES.data);
    const isThere = (whereThere(() => readdirSync(cluster)) ?? []).length > 0;
    // The next start reports missing data that are kept elsewhere.
    if (!isThere && location === undefined) return undefined;
    const port = findPostmaster(cluster)?.port;
    const password = port && readFileSync(join(path, FILES.password), 'utf8').trim();
    return { cluster, url: port && password ? urlOf(port, password, database) : undefined };
  } catch (error) {
    throw asEmbeddedPostgresError(error, `look into ${path}`);
  }
}

function whereThere<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
