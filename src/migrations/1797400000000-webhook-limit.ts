import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Drops the trigger that counted the webhooks of a client a second time. The trigger is not needed: the command that
 * creates a webhook first locks the client and then counts its webhooks, so concurrent commands cannot both create the
 * last webhook.
 */
export class WebhookLimit1797400000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP FUNCTION limit_webhooks_of_client() CASCADE');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('This migration cannot be undone: restore a backup instead.'));
  }
}
