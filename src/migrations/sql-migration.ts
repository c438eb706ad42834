import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A migration of SQL statements, each run in order.
 * @param name ends with the time in milliseconds that orders migrations
 */
export function sqlMigration(
  name: string,
  upward: readonly string[],
  downward: readonly string[],
): new () => MigrationInterface {
  return class {
    readonly name = name;
    readonly up = (queryRunner: QueryRunner): Promise<void> => runAll(queryRunner, upward);
    readonly down = (queryRunner: QueryRunner): Promise<void> => runAll(queryRunner, downward);
  };
}

async function runAll(queryRunner: QueryRunner, statements: readonly string[]): Promise<void> {
  for (const statement of statements) {
    await queryRunner.query(statement);
  }
}
