// What a backup says about itself. It is the last entry, so it is present only if everything before it is.
import { EmbeddedPostgresError } from '../errors';

/** The name of the manifest in the archive. */
export const MANIFEST = 'manifest.json';
/** The name of the password's file in the archive; the cluster is below `CLUSTER`. */
export const PASSWORD = 'password';
export const CLUSTER = 'data';
/** The folder of the application's own files in the archive. */
export const BESIDE = 'beside';

/** The version of this format. A change that an older program cannot read increases it. */
const FORMAT = 1;
/** A server needs these to start on a restored cluster. */
const NEEDED = [
  PASSWORD,
  ...['PG_VERSION', 'global/pg_control', 'backup_label'].map((name) => `${CLUSTER}/${name}`),
];

export interface BackedUpFile {
  path: string;
  bytes: number;
  sha256: string;
}

export interface Manifest {
  format: number;
  /** The name of the program that made it. */
  madeBy: string;
  /** RFC 3339. The backup contains everything committed before. */
  startedAt: string;
  finishedAt: string;
  /** The version of PostgreSQL, e.g. '18.4'. */
  postgres: string;
  /** The processor: PostgreSQL's files depend on it. */
  architecture: string;
  files: BackedUpFile[];
}

/** The archive differs from what was written. */
export class DamagedBackupError extends EmbeddedPostgresError {
  constructor(what: string) {
    super(`${what}; nothing was changed`);
  }
}

export function manifestOf(about: Omit<Manifest, 'format' | 'architecture'>): Manifest {
  return { format: FORMAT, architecture: process.arch, ...about };
}

/**
 * Reads a manifest and checks that this program and this PostgreSQL can use the backup.
 *
 * @param version this PostgreSQL, e.g. '18.4.0'
 * @throws EmbeddedPostgresError if they cannot
 */
export function readManifest(text: string, version: string): Manifest {
  const manifest = parse(text);
  if (manifest.format !== FORMAT) {
    throw new EmbeddedPostgresError(
      `the backup has format ${manifest.format}, and this program reads ${FORMAT}; use the program that made it (${manifest.madeBy})`,
    );
  }
  const [made, major] = [manifest.postgres, version].map((full) => full.split('.')[0]);
  if (made !== major) {
    throw new EmbeddedPostgresError(
      `the backup was made by PostgreSQL ${made} and cannot be used by PostgreSQL ${major}; use the program that made it (${manifest.madeBy})`,
    );
  }
  if (manifest.architecture !== process.arch) {
    throw new EmbeddedPostgresError(
      `the backup was made on ${manifest.architecture} and cannot be used on ${process.arch}`,
    );
  }
  return manifest;
}

function parse(text: string): Manifest {
  try {
    return JSON.parse(text) as Manifest;
  } catch {
    throw new DamagedBackupError('the backup is damaged: its manifest cannot be read');
  }
}

/**
 * Compares the unpacked files with the manifest.
 *
 * @throws DamagedBackupError naming the first difference
 */
export function checkFiles({ files }: Manifest, found: ReadonlyMap<string, BackedUpFile>): void {
  const missing = [...files.map(({ path }) => path), ...NEEDED].find((path) => !found.has(path));
  const changed = files.find(({ path, bytes, sha256 }) => {
    const file = found.get(path);
    return file?.bytes !== bytes || file.sha256 !== sha256;
  });
  const damage = missing ?? changed?.path;
  if (damage !== undefined || files.length !== found.size) {
    throw new DamagedBackupError(`the backup is damaged: ${damage ?? 'its files differ from its manifest'}`);
  }
}
