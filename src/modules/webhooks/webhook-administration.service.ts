import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Clock } from '#libs/clock';
import { Database, SERVICE_CALLER_ID } from '#libs/database';
import type { Feature } from '../../feature';
import { AuditTrail } from '../audit';
import { MAX_PENDING, Webhook, WebhookDelivery, enabledColumns, shownUrl } from './webhook.entity';

/** This statement is plain SQL, because TypeORM supports no ORDER BY and LIMIT in an UPDATE. */
const RETRY_FAILED = `UPDATE webhook_deliveries SET status = 'pending', attempts = 0, due_at = $2 WHERE id = ANY(ARRAY(
    SELECT id FROM webhook_deliveries WHERE webhook_id = $1 AND status = 'failed' ORDER BY id DESC
    LIMIT greatest(0, ${MAX_PENDING} - (SELECT count(*) FROM webhook_deliveries WHERE webhook_id = $1 AND status = 'pending'))))`;

export interface WebhookOverview {
  webhook: Webhook;
  client: string;
  pending: number;
  failed: number;
}

/** Shows and changes the webhooks of all clients, for operators. */
@Injectable()
export class WebhookAdministrationService {
  constructor(
    @InjectRepository(Webhook) private readonly webhooks: Repository<Webhook>,
    private readonly database: Database,
    private readonly trail: AuditTrail,
    private readonly clock: Clock,
  ) {}

  async overviews(filter: { client?: string; id?: number } = {}): Promise<WebhookOverview[]> {
    const count = (status: string) =>
      `(SELECT count(*)::int FROM webhook_deliveries WHERE webhook_id = webhook.id AND status = '${status}')`;
    const { entities, raw } = await this.webhooks
      .createQueryBuilder('webhook')
      .innerJoin('clients', 'client', 'client.id = webhook.clientId')
      .addSelect('client.name', 'client')
      .addSelect(count('pending'), 'pending')
      .addSelect(count('failed'), 'failed')
      .where(filter.client === undefined ? 'true' : 'client.name = :client', filter)
      .andWhere(filter.id === undefined ? 'true' : 'webhook.id = :id', filter)
      .orderBy('webhook.id')
      .getRawAndEntities<Omit<WebhookOverview, 'webhook'>>();
    return entities.map((webhook, index) => ({ ...raw[index]!, webhook }));
  }

  delivery(id: number): Promise<WebhookDelivery | null> {
    return this.database.find(WebhookDelivery, id, SERVICE_CALLER_ID);
  }

  setEnabled(id: number, enabled: boolean, reason?: string): Promise<void> {
    return this.database.transaction(async (transaction) => {
      const where = { id, enabled: !enabled };
      const { affected } = await transaction.update(Webhook, where, enabledColumns(enabled, reason));
      if (affected === 1) {
        const { clientId } = await transaction.findOneByOrFail(Webhook, { id });
        const action = enabled ? 'webhook.enabled' : 'webhook.disabled';
        await this.trail.record(transaction, { action, clientId, details: { webhookId: id, reason } });
      }
    });
  }

  /**
   * Sends the newest failed deliveries of a webhook again, up to the maximum number of pending deliveries.
   * @returns the number of deliveries that are sent again
   */
  retryFailed(webhookId: number): Promise<number> {
    return this.database.transaction(async (transaction) => {
      await transaction.update(Webhook, { id: webhookId }, { probeAfter: null });
      const { clientId } = await transaction.findOneByOrFail(Webhook, { id: webhookId });
      const [, deliveries] = await transaction.query<[unknown, number]>(RETRY_FAILED, [
        webhookId,
        new Date(this.clock.now()),
      ]);
      const details = { webhookId, deliveries };
      await this.trail.record(transaction, { action: 'webhook.deliveries_retried', clientId, details });
      return deliveries;
    });
  }
}

/**
 * Deletes the webhooks of a client that is deleted. When a key is revoked, lists the enabled webhooks of the key's client
 * to the operator. Events are still sent to these webhooks, and a thief of the key may have created some of them.
 */
export const WEBHOOKS_OF_CLIENT: NonNullable<Feature['clientDependent']> = {
  async deleteRowsOf(transaction, clientId) {
    await transaction.delete(Webhook, { clientId });
  },

  async describeRemaining(reader, client) {
    const where = { clientId: client.id, enabled: true };
    const enabled = await reader.find(Webhook, { where, order: { id: 'ASC' } });
    const named = enabled.map(({ id, url }) => `  ${id}  ${shownUrl(url)}`);
    const title = `Events are still sent to these webhooks of ${client.name}. To stop one: webhooks disable <id>`;
    return enabled.length === 0 ? undefined : [title, ...named].join('\n');
  },
};
