import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A migration of SQL statements, each run in order.
 * @param name ends with the time in milliseconds that orders migrations
 * @param transaction false for `CREATE INDEX CONCURRENTLY`, which PostgreSQL does not run in one
 */
export function sqlMigration(
  name: string,
  upward: readonly string[],
  downward: readonly string[],
  transaction = true,
): new () => MigrationInterface {
  return class {
    readonly name = name;
    readonly transaction = transaction;
    readonly up = (queryRunner: QueryRunner): Promise<void> => runAll(queryRunner, upward);
    readonly down = (queryRunner: QueryRunner): Promise<void> => runAll(queryRunner, downward);
  };
}

async function runAll(queryRunner: QueryRunner, statements: readonly string[]): Promise<void> {
  for (const statement of statements) {
    // A restore migrates within its transaction, where nobody else uses the tables.
    await queryRunner.query(
      queryRunner.isTransactionActive ? statement.replace('INDEX CONCURRENTLY', 'INDEX') : statement,
    );
  }
}
