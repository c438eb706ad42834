import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, type ValueTransformer } from 'typeorm';
import { GeneratedId, WRITTEN_BY_SQL } from '#libs/database';

export interface StoredSecret {
  sealed: string;
  /** When the secret stops being valid, in RFC 3339 format; null for the current secret. */
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

  @Column({ type: 'text', nullable: true, transformer: listOfTypes })
  types!: string[] | null;

  @Column({ type: 'text', nullable: true })
  description!: string | null;

  @Column('boolean')
  enabled!: boolean;

  @Column({ name: 'disabled_reason', type: 'text', nullable: true })
  disabledReason!: string | null;

  /**
   * Since when all attempts have failed. Null if the last attempt succeeded, and until the first attempt after the
   * webhook was created or enabled or got another URL.
   */
  @Column({ name: 'failing_since', type: 'timestamptz', nullable: true })
  failingSince!: Date | null;

  /** Nothing is sent before this time, because the receiver asked for a pause. */
  @Column({ name: 'paused_until', type: 'timestamptz', nullable: true })
  pausedUntil!: Date | null;

  /**
   * True after the first successful delivery to the present URL. Until then, deliveries are sent one at a time, because
   * the receiver may not work.
   */
  @Column('boolean', { default: false })
  proven!: boolean;

  /** True if the last attempt took at most a second. Deliveries to quick webhooks do not wait for slow webhooks. */
  @Column('boolean', { default: false })
  quick!: boolean;

  /**
   * If no delivery to the present URL has succeeded yet, all deliveries of the webhook wait until this time, which is
   * when the last failed delivery is due again. Only one attempt is then made, however many deliveries wait, because
   * the receiver has never worked.
   */
  @Column({ name: 'probe_after', type: 'timestamptz', nullable: true })
  probeAfter!: Date | null;

  /** The secrets that sign deliveries, encrypted, newest first. */
  @Column({ type: 'text', transformer: storedSecrets })
  secrets!: StoredSecret[];

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  /** The webhook receives only events after this position in the event feed. A database trigger sets this column. */
  @Column({ name: 'since', type: 'bigint', ...WRITTEN_BY_SQL })
  startPosition?: number;
}

/** Values for a webhook that is new or has a new URL, because nothing is known about the new receiver yet. */
export const NEW_RECEIVER = {
  failingSince: null,
  pausedUntil: null,
  proven: false,
  quick: false,
  probeAfter: null,
};

/**
 * Returns the columns that change when a webhook is enabled or disabled. Enabling a webhook also ends its pauses, so
 * that its due deliveries are sent at once. `pausedUntil` is the end of a pause that the receiver asked for.
 * `probeAfter` is the end of the pause after a failed attempt if the receiver has never worked.
 */
export function enabledColumns(enabled: boolean, disabledReason: string | null = null) {
  const pauses = enabled ? { pausedUntil: null, probeAfter: null } : {};
  return { enabled, disabledReason, failingSince: null, ...pauses };
}

/** Hides the values in the query of a URL, which may be secret: `?key=abc` becomes `?key=…`. */
export function shownUrl(url: string): string {
  return url.replace(/\?.*/, (query) => query.replace(/=[^&]*/g, '=…'));
}

export const TEST_TYPE = 'webhook.test';

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

@Entity('webhook_deliveries')
@Check('webhook_deliveries_status_check', `status IN ('pending', 'delivered', 'failed')`)
@Index('webhook_deliveries_waiting', ['webhookId', 'dueAt'], { where: `status = 'pending'` })
@Index('webhook_deliveries_leased', ['webhookId'], { where: 'leased_until IS NOT NULL' })
@Index('webhook_deliveries_of_webhook', ['webhookId', 'status', 'id'])
// A migration creates this index on an expression, which TypeORM's decorators cannot describe.
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

  /** The event's position in the event feed; null for a test event. */
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

  /** Until this time, only the instance that has set this time may send the delivery. Null if no instance sends the delivery. */
  @Column({ name: 'leased_until', type: 'timestamptz', nullable: true, ...WRITTEN_BY_SQL })
  leasedUntil?: Date | null;
}

/** A table with one row: the position in the event feed up to which deliveries were created. */
@Entity('webhook_dispatch')
@Check('webhook_dispatch_one_check', 'one')
export class DispatchPosition {
  @PrimaryColumn('boolean', { default: true })
  one!: true;

  @Column({ type: 'bigint' })
  position!: number;
}
