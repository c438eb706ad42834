import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Drops the trigger that counted the webhooks of a client once more. The command that creates a webhook counts them in a statement
 * after the one that locks the client, so concurrent commands cannot both create the last webhook.
 */
export class WebhookLimit1797400000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP FUNCTION limit_webhooks_of_client() CASCADE');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('This migration cannot be undone: restore a backup instead.'));
  }
}
