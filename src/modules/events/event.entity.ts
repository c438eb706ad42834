// What an event is, and a place in the feed.
import { Column, Entity } from 'typeorm';
import { GeneratedId } from '#libs/database';

/** The resources that have events: the first part of their types, what can happen to them, and the schema of `data`. */
export const RESOURCES = [
  { name: 'pet', events: ['created', 'updated', 'deleted'], schema: 'Pet' },
  { name: 'category', events: ['created', 'updated', 'deleted'], schema: 'Category' },
  { name: 'order', events: ['placed', 'updated', 'completed', 'cancelled'], schema: 'Order' },
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
  @Column({ name: 'pet_id', type: 'bigint', nullable: true })
  petId!: number | null;

  /** JSON: the resource as GET returns it right after the event, or right before it was removed. */
  @Column('text')
  data!: string;
}

/** A place in the feed: that of an event. */
export interface FeedPosition {
  position: number;
  /**
   * When the event was written, in microseconds since 1970. It tells the event from another one that got its position after
   * a failover to a standby that was behind, or in a restored backup.
   */
  time: number;
}

/** Before the first event. */
export const BEGINNING: FeedPosition = { position: 0, time: 0 };

export interface StoredEvent extends FeedPosition, Pick<EventRow, 'id' | 'type' | 'petId'> {
  data: object;
}

/** An event must match both. */
export interface EventFilter {
  type?: readonly EventType[];
  petId?: number;
}

export function matches({ type, petId }: StoredEvent, filter: EventFilter): boolean {
  return (filter.type?.includes(type) ?? true) && (filter.petId ?? petId) === petId;
}
