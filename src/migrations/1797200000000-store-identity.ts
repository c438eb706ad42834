import type { MigrationInterface, QueryRunner } from 'typeorm';

/** An id that distinguishes this store from other stores on the same Redis. */
const STORE_IDENTITY = [
  `CREATE TABLE store_identity (
    one boolean PRIMARY KEY DEFAULT true CONSTRAINT store_identity_one_check CHECK (one),
    id uuid NOT NULL
  )`,
  `INSERT INTO store_identity (id) VALUES (gen_random_uuid())`,
];

export class StoreIdentity1797200000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of STORE_IDENTITY) {
      await queryRunner.query(statement);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE store_identity');
  }
}
