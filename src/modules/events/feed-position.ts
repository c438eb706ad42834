import { InvalidCursorError } from '#libs/http';

/**
 * The position of an event in the feed, which a cursor encodes, with the properties by which a later read notices that
 * the database has lost events after a restored backup or a failover. The database may have lost the event at this
 * position, and may have given the position to another event, which has another `time`. Or the database may have lost
 * events before this event, so that `countBefore` differs.
 */
export interface FeedPosition {
  position: number;
  /**
   * When the event was written, in unix microseconds. After a failover, another event may get the position of a lost
   * event, but that event has another time.
   */
  time: number;
  /**
   * Number of events that the database had at the 500 positions before this event, at most ten minutes older than this
   * event. If the database later has another number of such events, the database has lost events.
   */
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
