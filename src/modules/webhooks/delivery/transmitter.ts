import { Injectable } from '@nestjs/common';
import { Webhook } from 'standardwebhooks';
import { Clock } from '#libs/clock';
import { SecretVault } from '../secret-vault';
import { validSecrets } from '../webhook-secrets';
import type { TakenDelivery } from './delivery-queue';
import type { Attempt } from './schedule';
import { Sender } from './sender';

const UNREADABLE = 'The signing secret cannot be decrypted. Rotate it.';

/** Signs deliveries (Standard Webhooks 1.0) and sends them. */
@Injectable()
export class Transmitter {
  constructor(
    private readonly vault: SecretVault,
    private readonly sender: Sender,
    private readonly clock: Clock,
  ) {}

  /** Never rejects. */
  async transmit(delivery: TakenDelivery): Promise<Attempt> {
    const now = new Date(this.clock.now());
    const signature = this.sign(delivery, now);
    if (signature === undefined) {
      return { status: null, failure: UNREADABLE };
    }
    const headers = {
      'Content-Type': 'application/json',
      'User-Agent': 'petstore-webhooks/1.0',
      'webhook-id': delivery.eventId,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
      'webhook-signature': signature,
    };
    return this.sender.send({ url: delivery.url, headers, body: delivery.payload });
  }

  /** Aborts requests in flight. */
  close(): void {
    this.sender.close();
  }

  /** One signature per valid secret; undefined if there is none or one cannot be decrypted. */
  private sign({ secrets, webhookId, eventId, payload }: TakenDelivery, now: Date): string | undefined {
    try {
      const signatures = validSecrets(secrets, now).map(({ sealed }) =>
        new Webhook(this.vault.open(sealed, webhookId)).sign(eventId, now, payload),
      );
      return signatures.length === 0 ? undefined : signatures.join(' ');
    } catch {
      // Do not log the error: it may contain the secret.
      return undefined;
    }
  }
}
