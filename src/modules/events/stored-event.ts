// How events are stored: all events of a commit in blocks, one row each, because a row for each event costs a write five
// times as much. An event's position is its block's with two more digits.
import type { EventType } from './event-types';

/** Events in one block at the most. */
export const BLOCK_SIZE = 100;

/** What a block holds of an event. */
export interface RecordedEvent {
  /** 32 hexadecimal digits. */
  id: string;
  type: EventType;
  /** The pet that it is about, if any. */
  petId: number | null;
  /** The resource, as its GET would answer right after; right before, if it is gone. */
  data: object;
}

export interface StoredEvent extends RecordedEvent {
  /** Where it stands in the feed. */
  position: number;
  /** RFC 3339, in UTC, to the microsecond. In the order of positions, like these. */
  timestamp: string;
}

export function blockOf(position: number): number {
  return Math.floor(position / BLOCK_SIZE);
}

/** The position of the last event that a block has room for. */
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
    // Told apart by a microsecond each, so that changes of one resource within a commit can be put in order.
    timestamp: timestampOf(microseconds + index),
  }));
}

function timestampOf(microseconds: number): string {
  const rest = String(microseconds % 1_000).padStart(3, '0');
  return new Date(Math.floor(microseconds / 1_000)).toISOString().replace('Z', `${rest}Z`);
}
