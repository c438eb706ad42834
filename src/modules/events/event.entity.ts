// What an event is, and a place in the feed.
import { Column, Entity } from 'typeorm';
import { GeneratedId } from '#libs/database';

/** The resources that have events: the first part of their types, what can happen to them, and the schema of `data`. */
export const RESOURCES = [
  { name: 'pet', events: ['created', 'updated', 'deleted'], schema: 'StoredPet' },
  { name: 'category', events: ['created', 'updated', 'deleted'], schema: 'Category' },
  { name: 'order', events: ['placed', 'updated', 'completed', 'cancelled'], schema: 'StoredOrder' },
  { name: 'inventory', events: ['updated'], schema: 'InventoryItem' },
] as const;

type TypesOf<Resource> = Resource extends {
  name: infer Name extends string;
  events: readonly (infer Event extends string)[];
}
  ? `${Name}.${Event}`
  : never;
export type EventType = TypesOf<(typeof RESOURCES)[number]>;

export function eventTypesOf({ name, events }: (typeof RESOURCES)[number]): EventType[] {
  return events.map((event) => `${name}.${event}` as EventType);
}

export const EVENT_TYPES: readonly EventType[] = RESOURCES.flatMap(eventTypesOf);

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

  /** The pet concerned, if any. */
  @Column({ name: 'pet_id', type: 'bigint', nullable: true })
  petId!: number | null;

  /** JSON: the resource as GET returns it right after the event, or right before it was removed. */
  @Column('text')
  data!: string;
}

export interface StoredEvent extends Pick<EventRow, 'position' | 'id' | 'type' | 'petId'> {
  /** When it was written, in microseconds since 1970. */
  time: number;
  data: object;
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

/** Before the first event. */
export const FEED_START: FeedPosition = { position: 0, time: 0, countBefore: 0 };

/** An event must match both. */
export interface EventFilter {
  type?: readonly EventType[];
  petId?: number;
}

export function matches({ type, petId }: StoredEvent, filter: EventFilter): boolean {
  return (filter.type?.includes(type) ?? true) && (filter.petId ?? petId) === petId;
}
