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
      this.logger.warn(
        'WEBHOOK_KEY is not set: this instance creates no webhooks and sends no events to them.',
      );
      return;
    }
    await this.database.query(
      `UPDATE webhook_dispatch SET key_fingerprint = $1 WHERE key_fingerprint IS NULL`,
      [fingerprint],
    );
    const [row] = await this.database.query<{ key_fingerprint: string }>(
      `SELECT key_fingerprint FROM webhook_dispatch`,
    );
    if (row!.key_fingerprint !== fingerprint) {
      throw new WebhookKeyError(
        'WEBHOOK_KEY is not the key that the webhook secrets in this database are encrypted with. ' +
          'All instances need the same key; see docs/operations/webhooks.md.',
      );
    }
  }
}
