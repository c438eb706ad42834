import { DefaultNamingStrategy, PrimaryGeneratedColumn, type Table } from 'typeorm';

/**
 * Gives a constraint the name that PostgreSQL gives to a constraint without a name, so that TypeORM recognizes the
 * constraints that the migrations have created.
 */
export class PostgresNames extends DefaultNamingStrategy {
  override primaryKeyName(table: Table | string): string {
    return `${this.getTableName(table)}_pkey`;
  }

  override foreignKeyName(table: Table | string, columns: string[]): string {
    return `${this.getTableName(table)}_${columns.join('_')}_fkey`;
  }

  override uniqueConstraintName(table: Table | string, columns: string[]): string {
    return `${this.getTableName(table)}_${columns.join('_')}_key`;
  }
}

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
