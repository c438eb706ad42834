import { Injectable } from '@nestjs/common';
import { Clock, DAY_MS } from '#libs/clock';
import { type CallerId, Database, SERVICE_CALLER_ID, type SharedRead, type StoredRow } from '#libs/database';
import type { EventType } from './event.entity';
import type { EventDto } from './events.dto';
import { FEED_START, type FeedPosition } from './feed-position';

export const EVENT_RETENTION_DAYS = 30;

export interface EventFilter {
  type?: readonly EventType[];
  petId?: number;
}

export interface StoredEvent {
  position: number;
  petId: number | null;
  event: EventDto;
}

export interface EventPage {
  isLost: false;
  events: StoredEvent[];
  reached: FeedPosition;
  hasMore: boolean;
}

/** The event at the caller's position was lost in a failover or restore. */
export interface LostPosition {
  isLost: true;
  /** An earlier position, from which the caller continues. */
  reached: FeedPosition;
}

/** Maximum number of events that one read examines, including events that do not match the filter. */
export const MAX_SEARCHED = 20_000;
const BYTES_OF_PAGE = 256 * 1_024;
/**
 * Maximum assumed difference, in microseconds, between the clock of a database server and the clock of the server that
 * replaces this server in a failover.
 */
const CLOCK_DIFFERENCE_US = 60_000_000;

const MICROSECONDS = '(extract(epoch FROM time) * 1000000)::bigint';

export function eventJson(id: string, time: string, data: string): string {
  const timestamp = `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
  return `concat('{"id":"', ${id}, '","type":"', type, '","timestamp":"', ${timestamp},
        '","data":', ${data}, '}')`;
}

/**
 * SQL expression for an event as JSON. The feed and webhooks use the same expression, so that both send the same text.
 */
export const EVENT_JSON = eventJson(`'evt_' || replace(id::text, '-', '')`, 'time', 'data');
const STORED_EVENT = `concat('{"position":', position, ',"petId":', coalesce(pet_id::text, 'null'),
        ',"event":', ${EVENT_JSON}, '}')`;

/**
 * Returns SQL that counts the events at the 500 positions before a position. A cursor contains this count. If a later
 * read counts another number at the same positions, the database has lost events. Events that are more than ten minutes
 * older than the event at the position do not count, because retention may delete these events while the cursor is
 * still valid.
 */
const countEarlier = (position: string, time: string): string =>
  `(SELECT count(*) FROM events AS earlier WHERE earlier.position > ${position} - 500 AND earlier.position < ${position}
      AND earlier.time > ${time} - interval '10 minutes')`;

const FEED_POSITION = `position, ${MICROSECONDS}, ${countEarlier('events.position', 'events.time')}`;

/**
 * Returns the SQL condition of a filter. `type` and `pet` are numbers of SQL parameters (5 for `$5`). If such a
 * parameter is null, the condition matches events of all types or all pets.
 */
const matching = (type: number, pet: number): string =>
  `($${type}::text[] IS NULL OR type = ANY($${type})) AND ($${pet}::bigint IS NULL OR pet_id = $${pet})`;

/**
 * Reads the end of the feed. Another statement then reads the events up to this end. A single statement for both could miss
 * events, because a statement sees only events that were committed before the statement began, while `feed_end` also
 * takes later commits into account.
 */
const END: SharedRead<null, number> = {
  statementFor: () => ({ text: 'SELECT feed_end()' }),
  resultsOf: ([row]) => row as [number],
};

/**
 * Reads a page of the events after a position.
 * - `start` finds the first event after the position, and checks whether the event at the position is still the one for
 *   which the cursor was issued (`is_known`).
 * - `examined` finds the last event that this read examines: from `first` on, at most MAX_SEARCHED positions.
 * - `found` reads the first examined events that match the filter, at most `$7`.
 * - `sized` adds to each event the size of the page up to this event (`bytes`).
 * - `page` joins the events that fit into BYTES_OF_PAGE. `is_full` is true if the maximum number of events or of bytes
 *   ended the page, so that more of the examined events may match.
 * - `reached` is the position from which the caller continues: the last event of a full page, otherwise the last
 *   examined event. There is no such row if no event follows the position.
 *
 * `$1` to `$3` are the `position`, `time` and `countBefore` of the caller's position, `$4` is the end of the feed, `$5`
 * and `$6` are the types and the pet of the filter, and `$7` is the maximum number of events.
 * The columns are the position of the newest event, `is_known`, the events as a JSON array, and the three columns of
 * `reached`.
 */
const PAGE = `SELECT (SELECT max(position) FROM events WHERE position <= $4::bigint), is_known, page.events, reached.*
    FROM (SELECT min(position) AS first,
      EXISTS (SELECT FROM events WHERE position = $1 AND ${MICROSECONDS} = $2::bigint
        AND ${countEarlier('events.position', 'events.time')} = $3::bigint) AS is_known
      FROM events WHERE position > $1 AND position <= $4) AS start
    LEFT JOIN LATERAL (
      SELECT position FROM events
      WHERE position >= first AND position < first + ${MAX_SEARCHED} AND position <= $4 ORDER BY position DESC LIMIT 1
    ) AS examined ON true
    CROSS JOIN LATERAL (
      SELECT concat('[', string_agg(event, ',') FILTER (WHERE bytes <= ${BYTES_OF_PAGE}), ']') AS events,
        max(position) FILTER (WHERE bytes <= ${BYTES_OF_PAGE}) AS last,
        count(*) = $7::int OR max(bytes) > ${BYTES_OF_PAGE} AS is_full
      FROM (SELECT *, sum(octet_length(event)) OVER (ORDER BY position ROWS UNBOUNDED PRECEDING) AS bytes
        FROM (SELECT position, ${STORED_EVENT} AS event FROM events
          WHERE position >= first AND position < first + ${MAX_SEARCHED} AND position <= $4 AND ${matching(5, 6)}
          ORDER BY position LIMIT $7) AS found) AS sized
    ) AS page
    LEFT JOIN LATERAL (
      SELECT ${FEED_POSITION} FROM events
      WHERE position = CASE WHEN page.is_full THEN page.last ELSE examined.position END
    ) AS reached ON true`;

/**
 * Finds the position from which a caller continues after the database has lost events, for example in a failover to
 * another server. The new server gives the positions of lost events to new events, which the caller must not miss. The
 * clock of the new server may be a minute behind, so only an event that is at least a minute older than the caller's
 * event was surely written before the loss. The caller continues after the newest such event.
 */
const BEFORE_LOSS = `SELECT ${FEED_POSITION} FROM events WHERE position <= $1 AND position > $1 - ${MAX_SEARCHED}
      AND ${MICROSECONDS} <= $2::bigint - ${CLOCK_DIFFERENCE_US} ORDER BY position DESC LIMIT 1`;

/**
 * Finds the newest events that match a filter, newest first. `$1` is the end of the feed, `$2` and `$3` are the types and
 * the pet of the filter, and `$4` is the maximum number of events.
 */
const NEWEST = `SELECT ${STORED_EVENT} FROM events
    WHERE position > $1::bigint - ${MAX_SEARCHED} AND position <= $1 AND ${matching(2, 3)} ORDER BY position DESC LIMIT $4`;

/**
 * Finds the position of the last event before the end of the feed (`$1`). The end can be a later position than that of the
 * last event, because positions without an event occur.
 */
const LAST = `SELECT ${FEED_POSITION} FROM events WHERE position <= $1 ORDER BY position DESC LIMIT 1`;

@Injectable()
export class EventReader {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns up to `most` events after a position, and at most 256 KiB. With a filter, a page may have fewer events
   * although more follow, because one read examines at most MAX_SEARCHED events. Returns LostPosition and no events if the
   * event at the position was lost.
   * @param callerId id of the client that reads, or SERVICE_CALLER_ID
   */
  async pageAfter(
    from: FeedPosition,
    { type, petId }: EventFilter,
    most: number,
    callerId: CallerId,
  ): Promise<EventPage | LostPosition> {
    const end = await this.feedEnd(callerId);
    const { position, time, countBefore } = from;
    const values = [position, time, countBefore, end, type ?? null, petId ?? null, most];
    const isSlow = type !== undefined || petId !== undefined;
    const [row] = await this.database.reads.read({ text: PAGE, values }, { callerId, isSlow });
    const [newest, isKnown, events, ...reachedAt] = row!;
    if (isKnown || position === FEED_START.position) {
      const reached = positionOf(reachedAt) ?? from;
      const hasMore = newest !== null && reached.position < (newest as number);
      return { isLost: false, events: JSON.parse(events as string) as StoredEvent[], reached, hasMore };
    }
    if (time <= (this.clock.now() - EVENT_RETENTION_DAYS * DAY_MS) * 1_000) {
      return this.pageAfter(FEED_START, { type, petId }, most, callerId);
    }
    const before = { text: BEFORE_LOSS, values: [position, time] };
    const [again] = await this.database.reads.read(before, { callerId, isSlow: true });
    return { isLost: true, reached: positionOf(again) ?? FEED_START };
  }

  /** Searches only the newest 20,000 events. Returns up to `most` matching events, oldest first. */
  async newest({ type, petId }: EventFilter, most: number): Promise<StoredEvent[]> {
    const values = [await this.feedEnd(SERVICE_CALLER_ID), type ?? null, petId ?? null, most];
    const options = { callerId: SERVICE_CALLER_ID, isSlow: true };
    const rows = await this.database.reads.read({ text: NEWEST, values }, options);
    return rows.map(([event]) => JSON.parse(event as string) as StoredEvent).reverse();
  }

  async lastPosition(callerId: CallerId): Promise<FeedPosition> {
    const values = [await this.feedEnd(callerId)];
    const [row] = await this.database.reads.read({ text: LAST, values }, { callerId, isSlow: false });
    return positionOf(row) ?? FEED_START;
  }

  private feedEnd(callerId: CallerId): Promise<number> {
    return this.database.reads.readByKey(END, null, callerId);
  }
}

function positionOf(row: StoredRow | undefined): FeedPosition | undefined {
  const [position, time, countBefore] = (row ?? []) as (number | null)[];
  return typeof position === 'number' ? { position, time: time!, countBefore: countBefore! } : undefined;
}
