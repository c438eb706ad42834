import { randomUUID } from 'node:crypto';
import { Column, Entity } from 'typeorm';
import { GeneratedId, Insert, type Journal, type WriteModel } from '#libs/database';
import type { ReportedEvent, ReportedTable } from '../../feature';

/** The resources whose changes are reported: the OpenAPI schema of their events, the event types, and the schema of `data`. */
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

/**
 * An event in the feed. The position is drawn from a sequence while the rows that the event reports on are locked, so the events
 * of one pet are in the order of the pet's changes.
 */
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

  /** The resource as JSON, as GET returns it right after the event, or right before the resource was deleted. */
  @Column('text')
  data!: string;
}

/**
 * The position of an event in the feed. `time` and `countBefore` reveal whether another database, such as a standby that was
 * behind or a restored backup, holds the same events up to this position.
 */
export interface FeedPosition {
  position: number;
  /**
   * When the event was written, in unix microseconds. After a failover, a different event may have the same position, but at a
   * different time.
   */
  time: number;
  /**
   * The number of events just before this event. Positions are not in the order of commits, so a standby may have this event and
   * lack an earlier event.
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
    INSERT.of(
      events.map(({ type, petId, data }) => [randomUUID(), type, petId ?? null, JSON.stringify(data)]),
    ),
  ],
};

/**
 * Turns the changed rows of each command into events, which are written in the same transaction.
 * @param tables all tables that commands change, parents before children: rows are locked and written in this order
 */
export function reportedWrites(tables: readonly ReportedTable[]): WriteModel {
  // Report changes of child tables before changes of their parents: first an order, then the stock that the order took, then the
  // pet. Events about new rows come first of all.
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
