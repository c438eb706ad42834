import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A migration of SQL statements, each run in order. */
export abstract class SqlMigration implements MigrationInterface {
  /** Of the class, with the time in milliseconds that orders migrations. */
  abstract readonly name: string;
  abstract readonly upward: readonly string[];
  abstract readonly downward: readonly string[];

  up(queryRunner: QueryRunner): Promise<void> {
    return runAll(queryRunner, this.upward);
  }

  down(queryRunner: QueryRunner): Promise<void> {
    return runAll(queryRunner, this.downward);
  }
}

async function runAll(queryRunner: QueryRunner, statements: readonly string[]): Promise<void> {
  for (const statement of statements) {
    await queryRunner.query(statement);
  }
}
