import { Injectable } from '@nestjs/common';
import { Clock, DAY_MS } from '#libs/clock';
import { Database, type StoredRow } from '#libs/database';
import {
  BEGINNING,
  type EventFilter,
  type EventType,
  type FeedPosition,
  type StoredEvent,
} from './event.entity';

/** How long events are kept at least. */
export const DAYS_KEPT = 30;

/** The database has no event at this position any more, which it once had: see `EventReader.after`. */
export class EventsLost extends Error {
  /** @param continueAt the last position before the loss, or earlier */
  constructor(readonly continueAt: FeedPosition) {
    super('The database has lost events.');
  }
}

export interface EventPage {
  /** In the order of the feed. */
  events: StoredEvent[];
  /** The position up to which events were read. */
  reached: FeedPosition;
  /** False at the end of the feed. */
  hasMore: boolean;
}

/** Maximum events that a read looks at, whether they match or not. */
export const MAX_SEARCHED = 20_000;
/** Maximum bytes of a page, and what an event has in a response besides its data. */
const BYTES_OF_PAGE = 256 * 1_024;
const BYTES_OF_EVENT = 150;
/** How much the clocks of two servers may differ. */
const CLOCK_DIFFERENCE_US = 60_000_000;

const MICROSECONDS = '(extract(epoch FROM time) * 1000000)::bigint';
const COLUMNS = `position, ${MICROSECONDS} AS time, id, type, pet_id`;

/** @param type, pet numbers of parameters; null for all */
const matching = (type: number, pet: number): string =>
  `($${type}::text[] IS NULL OR type = ANY($${type})) AND ($${pet}::bigint IS NULL OR pet_id = $${pet})`;

/**
 * Events after the position `$1` of the time `$2`, in one row: the newest position, whether the event at `$1` is there, the
 * last event that was looked at, and the page. It is one text of JSON, because the driver takes
 * longer for a hundred rows than PostgreSQL and `JSON.parse` together. Events that would make it too large have no data.
 */
const PAGE = {
  text: `SELECT (SELECT max(position) FROM events), is_known, looked.position, looked.time, page.events
    FROM (SELECT min(position) AS first,
      EXISTS (SELECT FROM events WHERE position = $1 AND ${MICROSECONDS} = $2::bigint) AS is_known
      FROM events WHERE position > $1) AS start
    LEFT JOIN LATERAL (
      SELECT position, ${MICROSECONDS} AS time FROM events
      WHERE position >= first AND position < first + ${MAX_SEARCHED} ORDER BY position DESC LIMIT 1
    ) AS looked ON true
    CROSS JOIN LATERAL (
      SELECT concat('[', string_agg(concat('[', position, ',', time, ',"', id, '","', type, '",', coalesce(pet_id::text, 'null'),
        ',', CASE WHEN bytes <= ${BYTES_OF_PAGE} THEN data ELSE 'null' END, ']'), ','), ']') AS events
      FROM (SELECT *,
          sum(octet_length(data) + ${BYTES_OF_EVENT}) OVER (ORDER BY position ROWS UNBOUNDED PRECEDING) AS bytes
        FROM (SELECT ${COLUMNS}, data FROM events
          WHERE position >= first AND position < first + ${MAX_SEARCHED} AND ${matching(3, 4)}
          ORDER BY position LIMIT $5) AS found) AS sized
    ) AS page`,
};

/** Where to go on if the event at the position `$1` of the time `$2` is lost. */
const AGAIN = {
  text: `SELECT position, ${MICROSECONDS} FROM events WHERE position <= $1 AND position > $1 - ${MAX_SEARCHED}
      AND ${MICROSECONDS} <= $2::bigint - ${CLOCK_DIFFERENCE_US} ORDER BY position DESC LIMIT 1`,
};

const NEWEST = {
  text: `SELECT ${COLUMNS}, data::json FROM events
    WHERE position > (SELECT max(position) FROM events) - ${MAX_SEARCHED} AND ${matching(1, 2)} ORDER BY position DESC LIMIT $3`,
};

const AT = { text: `SELECT ${COLUMNS}, data::json FROM events WHERE position = ANY($1)` };

const END = { text: `SELECT position, ${MICROSECONDS} FROM events ORDER BY position DESC LIMIT 1` };

/** Reads of events, in SQL, because one statement verifies the cursor and bounds the page. They take their turn with other reads of the same caller. */
@Injectable()
export class EventReader {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * Events after a position: at most `most`, and at most 256 KiB. With a filter, fewer may be returned although more follow.
   * Whoever returns to events that have expired continues with the oldest one.
   * @param caller the id of the client that reads; by default the service itself
   * @throws EventsLost if the event at the position is not there, or another one
   */
  async after(
    from: FeedPosition,
    { type, petId }: EventFilter,
    most: number,
    caller?: number,
  ): Promise<EventPage> {
    const { position, time } = from;
    const values = [position, time, type ?? null, petId ?? null, most];
    const mayReadThousands = type !== undefined || petId !== undefined;
    const [row] = await this.database.read(PAGE, values, caller, mayReadThousands);
    const [newest, isKnown, looked, lookedTime, page] = row!;
    if (!isKnown && position > BEGINNING.position) {
      if (time > (this.clock.now() - DAYS_KEPT * DAY_MS) * 1_000) {
        const [again] = await this.database.read(AGAIN, [position, time], caller);
        throw new EventsLost(positionOf(again?.[0], again?.[1]) ?? BEGINNING);
      }
      return this.after(BEGINNING, { type, petId }, most, caller);
    }
    const found = (JSON.parse(page as string) as StoredRow[]).map(toEvent);
    const events = found.filter(({ data }) => data !== null);
    const isFull = events.length === most || events.length < found.length;
    const reached = isFull ? events.at(-1)! : (positionOf(looked, lookedTime) ?? from);
    const hasMore = newest !== null && reached.position < (newest as number);
    return { events, reached: { position: reached.position, time: reached.time }, hasMore };
  }

  /** Those of the newest 20,000 events that match, in feed order. */
  async newest({ type, petId }: EventFilter, most: number): Promise<StoredEvent[]> {
    const rows = await this.database.read(NEWEST, [type ?? null, petId ?? null, most]);
    return rows.map(toEvent).reverse();
  }

  /** The events at these positions, without those that have expired, in any order. */
  async at(positions: readonly number[]): Promise<StoredEvent[]> {
    return (await this.database.read(AT, [positions])).map(toEvent);
  }

  /** The end of the feed: no existing event is after it, and every later one is. */
  async end(caller?: number): Promise<FeedPosition> {
    const [row] = await this.database.read(END, [], caller);
    return positionOf(row?.[0], row?.[1]) ?? BEGINNING;
  }
}

function positionOf(position: unknown, time: unknown): FeedPosition | undefined {
  return typeof position === 'number' ? { position, time: time as number } : undefined;
}

function toEvent([position, time, id, type, pet, data]: StoredRow): StoredEvent {
  return {
    position: position as number,
    time: time as number,
    id: id as string,
    type: type as EventType,
    petId: pet as number | null,
    data: data as object,
  };
}
