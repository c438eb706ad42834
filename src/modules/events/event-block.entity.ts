import { Column, Entity, Index } from 'typeorm';
import { GeneratedId } from '#libs/database';

/** The events of one commit. `event-blocks.ts` knows what its columns mean. */
@Entity('event_blocks')
@Index('event_blocks_by_day', ['day'], { type: 'brin' })
export class EventBlock {
  @GeneratedId()
  position!: number;

  @Column('smallint')
  size!: number;

  @Column('int')
  types!: number;

  @Column('bigint', { array: true })
  pets!: string[];

  @Column('text')
  events!: string;

  @Column({ type: 'timestamptz', default: () => 'clock_timestamp()' })
  time!: Date;

  /** The UTC day, `YYYY-MM-DD`. */
  @Column({ type: 'date', default: () => `((clock_timestamp() AT TIME ZONE 'UTC'))` })
  day!: string;
}
