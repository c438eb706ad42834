// How events are stored: the events of a commit are one row (a block), because one row per event makes a write five
// times as expensive. An event's position is the block's position followed by two digits.
import type { EventType } from './event-types';

/** Maximum events in one block. */
export const BLOCK_SIZE = 100;

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

export interface StoredEvent extends RecordedEvent {
  /** Its position in the feed. */
  position: number;
  /** RFC 3339, in UTC, to the microsecond. Increases with the position. */
  timestamp: string;
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
 * @param microseconds when the block was written, since 1970
 * @param events JSON
 */
export function eventsOfBlock(block: number, microseconds: number, events: string): StoredEvent[] {
  return (JSON.parse(events) as RecordedEvent[]).map((event, index) => ({
    ...event,
    position: block * BLOCK_SIZE + index,
    // One microsecond apart, so that changes of one resource within a commit can be ordered.
    timestamp: timestampOf(microseconds + index),
  }));
}

function timestampOf(microseconds: number): string {
  const rest = String(microseconds % 1_000).padStart(3, '0');
  return new Date(Math.floor(microseconds / 1_000)).toISOString().replace('Z', `${rest}Z`);
}
