import { Column, Entity, type ValueTransformer } from 'typeorm';
import { GeneratedId, int8 } from '#libs/database';
import type { KeptSecret } from './webhook-secrets';

const listOfTypes: ValueTransformer = {
  to: (types: string[] | null) => types?.join(',') ?? null,
  from: (text: string | null) => text?.split(',') ?? null,
};

const keptSecrets: ValueTransformer = {
  to: (secrets: KeptSecret[]) => JSON.stringify(secrets),
  from: (text: string) => JSON.parse(text) as KeptSecret[],
};

/** A client's webhook. Columns that only deliveries use, such as `paused_until`, are not mapped. */
@Entity('webhooks')
export class Webhook {
  @GeneratedId()
  id!: number;

  @Column({ name: 'client_id', type: 'bigint', transformer: int8 })
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

  /** Set when the service disabled it. */
  @Column({ name: 'disabled_reason', type: 'text', nullable: true })
  disabledReason!: string | null;

  /** The first failure since the last success. */
  @Column({ name: 'failing_since', type: 'timestamptz', nullable: true })
  failingSince!: Date | null;

  /** Encrypted, newest first. */
  @Column({ type: 'text', transformer: keptSecrets })
  secrets!: KeptSecret[];

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  /** A deleted webhook is kept, without its secrets, until its deliveries have expired; pending ones end at once. */
  @Column({ name: 'deleted_at', type: 'timestamptz', nullable: true })
  deletedAt!: Date | null;
}
