// What an event is, how it is written, and a place in the feed.
import { randomUUID } from 'node:crypto';
import { Column, Entity } from 'typeorm';
import { GeneratedId, Insert, type Journal, type WriteModel } from '#libs/database';
import type { ReportedEvent, ReportedTable } from '../../feature';

/** The resources that have events: the schema of their events, the types of these, and the schema of `data`. */
export const RESOURCES = [
  { schema: 'PetEvent', types: ['pet.created', 'pet.updated', 'pet.deleted'], data: 'StoredPet' },
  {
    schema: 'CategoryEvent',
    types: ['category.created', 'category.updated', 'category.deleted'],
    data: 'Category',
  },
  {
    schema: 'OrderEvent',
    types: ['order.placed', 'order.updated', 'order.completed', 'order.cancelled'],
    data: 'StoredOrder',
  },
  { schema: 'InventoryEvent', types: ['inventory.updated'], data: 'InventoryItem' },
] as const;

export type EventType = (typeof RESOURCES)[number]['types'][number];
export const EVENT_TYPES: readonly EventType[] = RESOURCES.flatMap(({ types }): EventType[] => [...types]);

/** An event. Positions are drawn while the rows that it reports on are locked, so the events of a pet are in the order of its changes. */
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

  @Column({ name: 'pet_id', type: 'bigint', nullable: true })
  petId!: number | null;

  /** JSON: the resource as GET returns it right after the event, or right before it was removed. */
  @Column('text')
  data!: string;
}

/**
 * A place in the feed: that of an event. Besides its position it attests what the database held there, which another database, a
 * standby that was behind or a restored backup, may not hold.
 */
export interface FeedPosition {
  position: number;
  /** When the event was written. Another one may have got its position. */
  time: number;
  /** How many events there are just before it. Positions are not in the order of commits: the event may be there, and one before it lost. */
  countBefore: number;
}

export const FEED_START: FeedPosition = { position: 0, time: 0, countBefore: 0 };

export interface EventFilter {
  type?: readonly EventType[];
  petId?: number;
}

/** An event that a feature reports, of a type that callers know. */
export interface NewEvent extends ReportedEvent {
  type: EventType;
}

/** Events are written in the transaction of the change that they report. SQL, because a journal of commands is a statement. */
const INSERT = new Insert('INSERT INTO events (id, type, pet_id, data)', ['uuid', 'text', 'bigint', 'text']);

const EVENT_JOURNAL: Journal<ReportedEvent> = {
  write: (events) => [
    INSERT.of(
      events.map(({ type, petId, data }) => [randomUUID(), type, petId ?? null, JSON.stringify(data)]),
    ),
  ],
};

/** @param tables all that commands change, in the order of locks and writes, parents before children */
export function reportedWrites(tables: readonly ReportedTable[]): WriteModel {
  // Children report before their parents: an order, the stock that it took, the pet. What is new comes first.
  const reporting = tables.toReversed();
  return {
    tables: tables.flatMap(({ entity = [] }) => entity),
    afterCommand: (state) => {
      const events = reporting.flatMap(({ eventsOf }) => eventsOf?.(state) ?? []);
      const isNew = ({ type }: ReportedEvent) => type.endsWith('.created');
      events.sort((one, other) => Number(isNew(other)) - Number(isNew(one)));
      events.forEach((event) => state.append(EVENT_JOURNAL, event));
    },
  };
}
