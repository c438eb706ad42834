import { DefaultNamingStrategy, type Table } from 'typeorm';

/** Names constraints as PostgreSQL does for those without a name, so that TypeORM recognizes the constraints of migrations. */
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
