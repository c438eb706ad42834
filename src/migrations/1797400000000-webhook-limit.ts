import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Drops the trigger that limits the webhooks of a client, because the command that creates a webhook checks the limit.
 */
export class WebhookLimit1797400000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP FUNCTION limit_webhooks_of_client() CASCADE');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('This migration cannot be undone: restore a backup instead.'));
  }
}
