import { Column, Entity } from 'typeorm';
import { GeneratedId, int8 } from '#libs/database';
import type { EventType } from './event';

/** An event. Positions follow commits: whoever sees one has seen all smaller ones. */
@Entity('events')
export class EventRow {
  @GeneratedId()
  position!: number;

  @Column({ type: 'timestamptz', default: () => 'clock_timestamp()' })
  time!: Date;

  @Column('uuid')
  id!: string;

  @Column('text')
  type!: EventType;

  /** The pet concerned, if any. */
  @Column({ name: 'pet_id', type: 'bigint', nullable: true, transformer: int8 })
  petId!: number | null;

  /** JSON: the resource as GET returns it right after the event, or right before it was removed. */
  @Column('text')
  data!: string;
}
