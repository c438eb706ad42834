import { randomUUID } from 'node:crypto';
import { Column, Entity } from 'typeorm';
import { GeneratedId, Insert, type Journal, type WriteModel } from '#libs/database';
import type { ReportedEvent, ReportedTable } from '../../feature';

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

/** An event in the feed. The events of one pet are in the order of its changes. */
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

  /** The resource as JSON, in the form that GET returned right after the change, or right before a deletion. */
  @Column('text')
  data!: string;
}

/**
 * The position of an event in the feed. After a restored backup or a failover, the time of the event at this position, or
 * the number of events before it, may differ: then the database has lost events.
 */
export interface FeedPosition {
  position: number;
  /**
   * When the event was written, in unix microseconds. After a failover, another event may get the position of a lost
   * event.
   */
  time: number;
  /**
   * Number of events shortly before this event. The number differs in a database that has lost some of these events.
   */
  countBefore: number;
}

export const FEED_START: FeedPosition = { position: 0, time: 0, countBefore: 0 };

export interface EventFilter {
  type?: readonly EventType[];
  petId?: number;
}

export interface NewEvent extends ReportedEvent {
  type: EventType;
}

const INSERT = new Insert('INSERT INTO events (id, type, pet_id, data)', ['uuid', 'text', 'bigint', 'text']);

const EVENT_JOURNAL: Journal<ReportedEvent> = {
  write: (events) => [
    INSERT.callFor(
      events.map(({ type, petId, data }) => [randomUUID(), type, petId ?? null, JSON.stringify(data)]),
    ),
  ],
};

/**
 * Adds to each command the events that report its changes, in the same transaction.
 * @param tables all tables that commands change, parents before children: rows are locked and written in this order
 */
export function reportedWrites(tables: readonly ReportedTable[]): WriteModel {
  // Report changes of children before changes of parents: first the order, then the stock that it took, then the pet.
  const reporting = tables.toReversed();
  return {
    tables: tables.map(({ entity }) => entity),
    afterCommand: (state) => {
      const events = reporting.flatMap(({ eventsOf }) => eventsOf?.(state) ?? []);
      const isNew = ({ type }: ReportedEvent) => type.endsWith('.created');
      events.sort((one, other) => Number(isNew(other)) - Number(isNew(one)));
      events.forEach((event) => state.append(EVENT_JOURNAL, event));
    },
  };
}
