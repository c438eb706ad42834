import { PrimaryGeneratedColumn } from 'typeorm';

export function GeneratedId(): PropertyDecorator {
  return PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' });
}

/**
 * Column options for technical text, such as a hash. The values are compared byte by byte, so indexes stay valid if the
 * database's collation changes.
 */
export const BYTEWISE_TEXT = { type: 'text', collation: 'C' } as const;

/** Column options for a column that only SQL statements read and write, and not TypeORM. */
export const WRITTEN_BY_SQL = { select: false, insert: false, update: false } as const;
