import { InvalidCursorError } from '#libs/http';

/**
 * The position of an event in the feed. After a restored backup or a failover, the time of the event at this position, or
 * the number of events before it, may differ: then the database has lost events.
 */
export interface FeedPosition {
  position: number;
  /** When the event was written, in unix microseconds. After a failover, another event may have the position. */
  time: number;
  /** Number of events shortly before this event, which differs if the database has lost some of these events. */
  countBefore: number;
}

export const FEED_START: FeedPosition = { position: 0, time: 0, countBefore: 0 };

export function cursorAt({ position, time, countBefore }: FeedPosition): string {
  return Buffer.from(`event:${position}.${time}.${countBefore}`).toString('base64url');
}

export function positionAt(cursor: string): FeedPosition {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const numbers = text.slice('event:'.length).split('.').map(Number);
  const [position, time, countBefore] = numbers;
  const found = { position: position!, time: time!, countBefore: countBefore! };
  // Encode the position again to check that the cursor has exactly the form that the service issues.
  if (!numbers.every((one) => Number.isSafeInteger(one) && one >= 0) || cursorAt(found) !== cursor) {
    throw new InvalidCursorError();
  }
  return found;
}
