import { Injectable } from '@nestjs/common';
import { Database, int8ToNumber } from '#libs/database';
import { AuditTrail } from '../audit';

/** Enables and disables webhooks on behalf of the operator or the service. */
@Injectable()
export class WebhookActivation {
  constructor(
    private readonly database: Database,
    private readonly trail: AuditTrail,
  ) {}

  /** Has no effect if it is enabled already. @returns false if there is no such webhook */
  enable(id: number): Promise<boolean> {
    return this.set(id, true, null);
  }

  /** @param reason shown to the client */
  disable(id: number, reason: string): Promise<boolean> {
    return this.set(id, false, reason);
  }

  private set(webhookId: number, enabled: boolean, reason: string | null): Promise<boolean> {
    return this.database.transaction(async (transaction) => {
      const [found] = await transaction.query<{ client_id: string; enabled: boolean }[]>(
        `SELECT client_id, enabled FROM webhooks WHERE id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE`,
        [webhookId],
      );
      if (found !== undefined && found.enabled !== enabled) {
        await transaction.query(
          `UPDATE webhooks SET enabled = $2, disabled_reason = $3, failing_since = NULL WHERE id = $1`,
          [webhookId, enabled, reason],
        );
        const clientId = int8ToNumber(found.client_id);
        await this.trail.record(
          transaction,
          enabled
            ? { action: 'webhook.enabled', clientId, details: { webhookId } }
            : { action: 'webhook.disabled', clientId, details: { webhookId, reason: reason! } },
        );
      }
      return found !== undefined;
    });
  }
}
