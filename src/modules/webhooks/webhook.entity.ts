import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, type ValueTransformer } from 'typeorm';
import { GeneratedId, MAINTAINED_BY_DATABASE, type Transaction } from '#libs/database';
import type { AuditTrail } from '../audit';

export interface StoredSecret {
  /** Encrypted. */
  sealed: string;
  /** RFC 3339; null for the current one. */
  until: string | null;
}

const listOfTypes: ValueTransformer = {
  to: (types: string[] | null) => types?.join(',') ?? null,
  from: (text: string | null) => text?.split(',') ?? null,
};

const storedSecrets: ValueTransformer = {
  to: (secrets: StoredSecret[]) => JSON.stringify(secrets),
  from: (text: string) => JSON.parse(text) as StoredSecret[],
};

/** More pending deliveries disable a webhook. */
export const MAX_PENDING = 10_000;

@Entity('webhooks')
@Index('webhooks_of_client', ['clientId', 'id'])
@Index('webhooks_enabled', ['id'], { where: 'enabled' })
export class Webhook {
  @GeneratedId()
  id!: number;

  @ForeignKey('Client', { onDelete: 'CASCADE' })
  @Column({ name: 'client_id', type: 'bigint' })
  clientId!: number;

  @Column('text')
  url!: string;

  /** Null: all types of events. */
  @Column({ type: 'text', nullable: true, transformer: listOfTypes })
  types!: string[] | null;

  @Column({ type: 'text', nullable: true })
  description!: string | null;

  @Column('boolean')
  enabled!: boolean;

  @Column({ name: 'disabled_reason', type: 'text', nullable: true })
  disabledReason!: string | null;

  /** The first failure since the last success. */
  @Column({ name: 'failing_since', type: 'timestamptz', nullable: true })
  failingSince!: Date | null;

  /** Nothing is sent before: its receiver asked for a pause. */
  @Column({ name: 'paused_until', type: 'timestamptz', nullable: true })
  pausedUntil!: Date | null;

  /** Its receiver has accepted a delivery. Until then it is on probation. */
  @Column('boolean', { default: false })
  proven!: boolean;

  /** The last attempt ended within a second. */
  @Column('boolean', { default: false })
  quick!: boolean;

  /** On probation nothing is sent before: the last attempt failed. */
  @Column({ name: 'probe_after', type: 'timestamptz', nullable: true })
  probeAfter!: Date | null;

  /** Encrypted, newest first. */
  @Column({ type: 'text', transformer: storedSecrets })
  secrets!: StoredSecret[];

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  /** The position in the feed after which events are sent to it. Set by a trigger. */
  @Column({ type: 'bigint', ...MAINTAINED_BY_DATABASE })
  since?: number;
}

/** What a webhook knows of a receiver that it has sent nothing to. */
export const NEW_RECEIVER = {
  failingSince: null,
  pausedUntil: null,
  proven: false,
  quick: false,
  probeAfter: null,
};

/** What changes when a webhook is enabled or disabled. Enabling starts afresh. */
export function switched(enabled: boolean, disabledReason: string | null = null) {
  const pauses = enabled ? { pausedUntil: null, probeAfter: null } : {};
  return { enabled, disabledReason, failingSince: null, ...pauses };
}

/** Has no effect on a webhook that is so already. @param reason why it is disabled; shown to the client */
export async function switchWebhook(
  transaction: Transaction,
  trail: AuditTrail,
  webhookId: number,
  enabled: boolean,
  reason?: string,
): Promise<void> {
  const where = { id: webhookId, enabled: !enabled };
  const { affected } = await transaction.update(Webhook, where, switched(enabled, reason));
  if (affected === 1) {
    const { clientId } = await transaction.findOneByOrFail(Webhook, { id: webhookId });
    const action = enabled ? 'webhook.enabled' : 'webhook.disabled';
    await trail.record(transaction, { action, clientId, details: { webhookId, reason } });
  }
}

/** Values in its query may be secret. */
export function shownUrl(url: string): string {
  return url.replace(/\?.*/, (query) => query.replace(/=[^&]*/g, '=…'));
}

/** Of a test, which is no event of the feed. */
export const TEST_TYPE = 'webhook.test';

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

@Entity('webhook_deliveries')
@Check('webhook_deliveries_status_check', `status IN ('pending', 'delivered', 'failed')`)
@Index('webhook_deliveries_waiting', ['webhookId', 'dueAt'], { where: `status = 'pending'` })
@Index('webhook_deliveries_leased', ['webhookId'], { where: 'leased_until IS NOT NULL' })
@Index('webhook_deliveries_of_webhook', ['webhookId', 'status', 'id'])
// Of an expression: in a migration only.
@Index('webhook_deliveries_by_day', { synchronize: false })
export class WebhookDelivery {
  @GeneratedId()
  id!: number;

  @Column({ name: 'webhook_id', type: 'bigint' })
  webhookId!: number;

  @Column({ name: 'event_id', type: 'text' })
  eventId!: string;

  @Column('text')
  type!: string;

  /** The event's position in the feed; null for a test. */
  @Column({ type: 'bigint', nullable: true })
  position!: number | null;

  @Column('text')
  status!: DeliveryStatus;

  @Column('int')
  attempts!: number;

  @Column({ name: 'due_at', type: 'timestamptz' })
  dueAt!: Date;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  @Column({ name: 'last_attempt_at', type: 'timestamptz', nullable: true })
  lastAttemptAt!: Date | null;

  @Column({ name: 'response_status', type: 'int', nullable: true })
  responseStatus!: number | null;

  @Column({ type: 'text', nullable: true })
  error!: string | null;

  /** An instance has leased it to send it. No other does before. */
  @Column({ name: 'leased_until', type: 'timestamptz', nullable: true, ...MAINTAINED_BY_DATABASE })
  leasedUntil?: Date | null;
}

/** A single row: the position in the feed up to which deliveries were created. */
@Entity('webhook_dispatch')
@Check('webhook_dispatch_one_check', 'one')
export class DispatchPosition {
  @PrimaryColumn('boolean', { default: true })
  one!: true;

  @Column({ type: 'bigint' })
  position!: number;
}
