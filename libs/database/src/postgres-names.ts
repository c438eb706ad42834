import { DefaultNamingStrategy, type Table } from 'typeorm';

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
