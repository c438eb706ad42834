import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Database } from '#libs/database';
import { SecretVault } from './secret-vault';

/** The key is not the one that the secrets in the database are encrypted with; the message is one line. */
export class WebhookKeyError extends Error {}

/** Finds out at the start whether this instance can read the secrets: all instances need the same key. */
@Injectable()
export class WebhookKeyCheck implements OnModuleInit {
  private readonly logger = new Logger('Webhooks');

  constructor(
    private readonly database: Database,
    private readonly vault: SecretVault,
  ) {}

  async onModuleInit(): Promise<void> {
    const { fingerprint } = this.vault;
    if (fingerprint === undefined) {
      this.logger.log(
        'WEBHOOK_KEY is not set: this instance creates no webhooks and sends no events to them.',
      );
      return;
    }
    const [unreadable] = await this.database.query(
      `SELECT FROM webhooks WHERE deleted_at IS NULL AND secrets <> '[]' AND strpos(secrets, $1) = 0 LIMIT 1`,
      [`"${fingerprint}.`],
    );
    if (unreadable !== undefined) {
      throw new WebhookKeyError(
        'The secrets of webhooks in this database are encrypted with another key than that of WEBHOOK_KEY or webhook.key. ' +
          'All instances need the same key; docs/operations/webhooks.md tells what to do when it is lost.',
      );
    }
  }
}
