import { Column, Entity } from 'typeorm';
import { GeneratedId, int8 } from '#libs/database';

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** One event on its way to one webhook. */
@Entity('webhook_deliveries')
export class WebhookDelivery {
  @GeneratedId()
  id!: number;

  @Column({ name: 'webhook_id', type: 'bigint', transformer: int8 })
  webhookId!: number;

  @Column({ name: 'event_id', type: 'text' })
  eventId!: string;

  @Column('text')
  type!: string;

  /** The body of the request, to the byte: it is what is signed. */
  @Column('text')
  payload!: string;

  @Column('text')
  status!: DeliveryStatus;

  @Column('int')
  attempts!: number;

  /** When the next attempt is due. During an attempt, the end of its lease. */
  @Column({ name: 'due_at', type: 'timestamptz' })
  dueAt!: Date;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  @Column({ name: 'last_attempt_at', type: 'timestamptz', nullable: true })
  lastAttemptAt!: Date | null;

  /** The status of the last response; null when there was none. */
  @Column({ name: 'response_status', type: 'int', nullable: true })
  responseStatus!: number | null;

  /** Why the last attempt failed. */
  @Column({ type: 'text', nullable: true })
  error!: string | null;
}
