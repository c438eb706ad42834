import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Database } from '#libs/database';
import { SecretVault } from './secret-vault';

/** The secrets in the database are encrypted with another key. The message is one line. */
export class WebhookKeyError extends Error {}

/** Checks at startup that this instance can decrypt the secrets: all instances need the same key. */
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
        'The webhook secrets in this database are encrypted with a different key than the one in WEBHOOK_KEY or webhook.key. ' +
          'All instances need the same key; docs/operations/webhooks.md says what to do if it is lost.',
      );
    }
  }
}
