import type { EntityManager } from 'typeorm';

const MIN_VERSION = 15;

/** The database cannot hold this store. The message is one sentence. */
export class UnsuitableDatabaseError extends Error {
  constructor(reason: string) {
    super(`The database cannot be used: ${reason}.`);
  }
}

const FACTS = `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
    current_setting('server_encoding') AS encoding, current_setting('transaction_read_only') = 'on' AS "isReadOnly"`;

interface Facts {
  version: string;
  number: number;
  encoding: string;
  isReadOnly: boolean;
}

/** Checks what no session can set. @throws UnsuitableDatabaseError */
export async function assertSuitable(reader: EntityManager): Promise<void> {
  const [facts] = await reader.query<Facts[]>(FACTS);
  const { version, number, encoding, isReadOnly } = facts!;
  if (number < MIN_VERSION * 10_000) {
    throw new UnsuitableDatabaseError(`its version is ${version}, and ${MIN_VERSION} or newer is needed`);
  }
  if (encoding !== 'UTF8') {
    throw new UnsuitableDatabaseError(`its encoding is ${encoding}, not UTF8`);
  }
  if (isReadOnly) {
    throw new UnsuitableDatabaseError('it is read-only: a standby, or default_transaction_read_only is on');
  }
}
