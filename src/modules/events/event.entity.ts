import { Column, Entity } from 'typeorm';
import { GeneratedId, int8 } from '#libs/database';
import type { EventType } from './event-types';

/** A trigger serializes inserts, so that positions are in commit order. */
@Entity('events')
export class StoredEvent {
  /** Where it stands in the feed. */
  @GeneratedId()
  position!: number;

  @Column({ type: 'uuid', insert: false })
  id!: string;

  @Column('text')
  type!: EventType;

  /** The pet that it is about, if any. */
  @Column({ name: 'pet_id', type: 'bigint', transformer: int8, nullable: true })
  petId!: number | null;

  /** The resource, as its GET would answer right after; right before, if it is gone. */
  @Column('json')
  data!: object;

  /** RFC 3339, in UTC, to the microsecond. In the order of positions, like these. */
  @Column({ type: 'text', insert: false })
  timestamp!: string;
}
