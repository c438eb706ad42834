// What an event is, and how events are stored: those of a commit are one row (a block), because one row per event makes
// a write five times as expensive. An event's position is the block's position followed by two digits.
import type { Journal } from '#libs/database';

/** New types must be appended: blocks have a bit for each, which is enough for 31. */
export const EVENT_TYPES = [
  'pet.created',
  'pet.updated',
  'pet.deleted',
  'category.created',
  'category.updated',
  'category.deleted',
  'order.placed',
  'order.updated',
  'order.completed',
  'order.cancelled',
  'inventory.updated',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Maximum events in one block, and bytes, unless a single event has more. */
export const BLOCK_SIZE = 100;
export const BLOCK_BYTES = 128 * 1_024;

/** An event in a block. */
export interface RecordedEvent {
  /** 32 hexadecimal digits. */
  id: string;
  type: EventType;
  /** The pet concerned, if any. */
  petId: number | null;
  /** The resource as GET returns it right after the event, or right before it was removed. */
  data: object;
}

/** A place in the feed: that of an event, or the end of a block. */
export interface FeedPosition {
  position: number;
  /**
   * When its block was written, in microseconds since 1970. It tells the block from another one that got its position after
   * a failover to a standby that was behind, or in a restored backup.
   */
  time: number;
}

/** Before the first event. */
export const BEGINNING: FeedPosition = { position: 0, time: 0 };

export interface StoredEvent extends RecordedEvent, FeedPosition {
  /** RFC 3339, in UTC, to the microsecond. Increases with the position. */
  timestamp: string;
}

/** An event must match both. */
export interface EventFilter {
  type?: readonly EventType[];
  petId?: number;
}

export function matches({ type, petId }: RecordedEvent, filter: EventFilter): boolean {
  return (filter.type?.includes(type) ?? true) && (filter.petId ?? petId) === petId;
}

/** SQL, because a journal of commands is a statement. Plain values: the driver would quote arrays of JSON, and the database would have to parse them again. */
const INSERT = {
  text: `INSERT INTO event_blocks (size, types, pets, events) VALUES ($1, $2, $3, $4)`,
};

/** How the events of a commit are written. */
export const EVENT_JOURNAL: Journal<RecordedEvent> = {
  write: (events) =>
    blocksOf(events).map(({ block, texts }) => {
      const pets = new Set(block.flatMap(({ petId }) => petId ?? []));
      const values = [block.length, maskOf(block.map(({ type }) => type)), [...pets], `[${texts.join(',')}]`];
      return { statement: INSERT, values };
    }),
};

function blocksOf(events: readonly RecordedEvent[]): { block: RecordedEvent[]; texts: string[] }[] {
  const blocks: { block: RecordedEvent[]; texts: string[]; bytes: number }[] = [];
  for (const event of events) {
    const text = JSON.stringify(event);
    const bytes = Buffer.byteLength(text) + 1;
    const last = blocks.at(-1);
    if (last === undefined || last.block.length === BLOCK_SIZE || last.bytes + bytes > BLOCK_BYTES) {
      blocks.push({ block: [event], texts: [text], bytes });
    } else {
      last.block.push(event);
      last.texts.push(text);
      last.bytes += bytes;
    }
  }
  return blocks;
}

/** The types of a block or a filter, as a number with a bit for each. */
export function maskOf(types: readonly EventType[]): number {
  return types.reduce((mask, type) => mask | (1 << EVENT_TYPES.indexOf(type)), 0);
}

export function blockOf(position: number): number {
  return Math.floor(position / BLOCK_SIZE);
}

/** The last possible position in a block. */
export function endOfBlock(block: number): number {
  return block * BLOCK_SIZE + BLOCK_SIZE - 1;
}

/**
 * @param block position of the block
 * @param time when the block was written, in microseconds since 1970
 * @param events JSON
 */
export function eventsOfBlock(block: number, time: number, events: string): StoredEvent[] {
  return (JSON.parse(events) as RecordedEvent[]).map((event, index) => ({
    ...event,
    position: block * BLOCK_SIZE + index,
    time,
    // One microsecond apart, so that changes of one resource within a commit can be ordered.
    timestamp: timestampOf(time + index),
  }));
}

function timestampOf(microseconds: number): string {
  const rest = String(microseconds % 1_000).padStart(3, '0');
  return new Date(Math.floor(microseconds / 1_000)).toISOString().replace('Z', `${rest}Z`);
}
