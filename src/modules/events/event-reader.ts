import { Injectable } from '@nestjs/common';
import { Clock, DAY_MS } from '#libs/clock';
import { Database, type StoredRow, int8ToNumber } from '#libs/database';
import {
  BEGINNING,
  BLOCK_SIZE,
  EVENT_TYPES,
  type EventFilter,
  type FeedPosition,
  type StoredEvent,
  blockOf,
  endOfBlock,
  eventsOfBlock,
  maskOf,
  matches,
} from './event-blocks';

/** How long events are kept at least. */
export const DAYS_KEPT = 30;

/** The database has no events up to this position any more, which it once had: see `EventReader.after`. */
export class EventsLost extends Error {
  /** @param continueAt the last position before the loss, or a little earlier */
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

/** Maximum blocks that a page searches, and events in matching blocks. */
const BLOCKS_OF_PAGE = 50_000;
const EVENTS_OF_FILTERED_PAGE = 1_000;
/** Maximum bytes of blocks that a page reads. A response has a little more for each event than its block. */
const BYTES_OF_PAGE = 256 * 1_024 - 100 * BLOCK_SIZE;

/** Blocks of the newest events that are read at a time. */
const BLOCKS_AT_ONCE = 100;
/** How much the clocks of two servers may differ. */
const CLOCK_DIFFERENCE_US = 60_000_000;

const MICROSECONDS = '(extract(epoch FROM time) * 1000000)::bigint';

/**
 * At most `$3` blocks from `$1` that may match the types `$4` and the pet `$5`. Blocks after `$2` events, and those that
 * would make the page too large, come without their events; the first one always has them. Each row, and there is always
 * one, also has the newest position, whether the block `$6` of the time `$7` is there, and the last block that was searched.
 */
const PAGE = {
  text: `SELECT (SELECT max(position) FROM event_blocks) AS newest,
      EXISTS (SELECT FROM event_blocks WHERE position = $6 AND ${MICROSECONDS} = $7::bigint) AS is_known,
      last.position, last.time, page.position, page.time,
      CASE WHEN page.before < $2 AND (page.bytes <= ${BYTES_OF_PAGE} OR page.before = 0) THEN page.events END AS events
    FROM (SELECT min(position) AS first FROM event_blocks WHERE position >= $1) AS start
    LEFT JOIN LATERAL (
      SELECT position, ${MICROSECONDS} AS time FROM event_blocks
      WHERE position >= first AND position < first + ${BLOCKS_OF_PAGE} ORDER BY position DESC LIMIT 1
    ) AS last ON true
    LEFT JOIN LATERAL (
      SELECT position, ${MICROSECONDS} AS time, events,
        sum(size) OVER so_far - size AS before, sum(octet_length(events)) OVER so_far AS bytes
      FROM (SELECT * FROM event_blocks WHERE position >= first AND position < first + ${BLOCKS_OF_PAGE}
          AND types & $4 <> 0 AND ($5::bigint IS NULL OR $5 = ANY(pets))
        ORDER BY position LIMIT $3) AS found
      WINDOW so_far AS (ORDER BY position)
    ) AS page ON true
    ORDER BY page.position`,
};

/** Blocks up to one, the newest first. */
const NEWEST = {
  text: `SELECT position, ${MICROSECONDS}, events FROM event_blocks
    WHERE position <= $1 AND position > $1 - ${BLOCKS_OF_PAGE} AND types & $2 <> 0 AND ($3::bigint IS NULL OR $3 = ANY(pets))
    ORDER BY position DESC LIMIT $4`,
};

/** The newest block up to a position. */
const UP_TO = {
  text: `SELECT position, ${MICROSECONDS} FROM event_blocks WHERE position <= $1 ORDER BY position DESC LIMIT 1`,
};

interface Block extends FeedPosition {
  /** JSON; null if the page ends before this block. */
  events: string | null;
}

/** Reads of events, in SQL, because a page ends where its blocks have enough events or bytes. They take their turn with other reads of the same caller (`Database.read`). */
@Injectable()
export class EventReader {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * Events after a position: at most `most`, and at most 256 KiB. With a filter, fewer may be returned although more follow.
   * Whoever returns to events that have expired continues with the oldest one.
   * @param from without a time it is not verified: for a position in the database, which is lost with the events
   * @param caller the id of the client that reads; by default the service itself
   * @throws EventsLost if the event or block at the position is not there, or another one
   */
  async after(
    from: Pick<FeedPosition, 'position'> & Partial<FeedPosition>,
    filter: EventFilter,
    most: number,
    caller?: number,
  ): Promise<EventPage> {
    const { position, time } = from;
    const first = blockOf(position + 1);
    const seen = (position + 1) % BLOCK_SIZE;
    const isFiltered = filter.type !== undefined || filter.petId !== undefined;
    const size = isFiltered ? Math.max(most, EVENTS_OF_FILTERED_PAGE) : most + seen;
    const values = [first, size, most + 1, ...valuesOf(filter), blockOf(position), time ?? 0];
    const rows = await this.database.read(PAGE, values, caller);
    const [newest, isKnown, last, lastTime] = rows[0]!;
    if (!isKnown && time !== undefined && position > BEGINNING.position) {
      if (time > (this.clock.now() - DAYS_KEPT * DAY_MS) * 1_000) {
        throw new EventsLost(await this.lastBefore({ position, time }, caller));
      }
      return this.after(BEGINNING, filter, most, caller);
    }
    const blocks = rows.filter((row) => row[4] !== null).map((row) => toBlock(row.slice(4)));
    const found: StoredEvent[] = [];
    for (const block of blocks) {
      if (found.length <= most) {
        found.push(...eventsIn(block, filter).filter((event) => event.position > position));
      }
    }
    const events = found.slice(0, most);
    const end = endOfPage(blocks, most) ?? (last === null ? undefined : toPosition(last, lastTime));
    const reached = found.length > most ? events.at(-1)! : end ? endOf(end) : { time: 0, ...from };
    const hasMore = newest !== null && reached.position < endOfBlock(int8ToNumber(newest as string));
    return { events, reached, hasMore };
  }

  /** The newest events, in feed order. */
  async newest(filter: EventFilter, most: number): Promise<StoredEvent[]> {
    const found: StoredEvent[] = [];
    let last = await this.blockUpTo(Number.MAX_SAFE_INTEGER);
    while (last !== undefined && found.length < most) {
      const first = blockOf(last.position);
      const rows = await this.database.read(NEWEST, [first, ...valuesOf(filter), BLOCKS_AT_ONCE]);
      const blocks = rows.map(toBlock);
      blocks.forEach((block) => found.push(...eventsIn(block, filter).reverse()));
      const searched = blocks.length < BLOCKS_AT_ONCE ? first - BLOCKS_OF_PAGE : blocks.at(-1)!.position - 1;
      last = await this.blockUpTo(searched);
    }
    return found.slice(0, most).reverse();
  }

  /** The end of the feed: no existing event is after it, and every later one is. */
  async end(caller?: number): Promise<FeedPosition> {
    return (await this.blockUpTo(Number.MAX_SAFE_INTEGER, caller)) ?? BEGINNING;
  }

  /**
   * The last position before a lost one, by time, because all events that are still there from before the loss are older.
   * Halves the range, because there may be millions of events since.
   */
  private async lastBefore({ position, time }: FeedPosition, caller?: number): Promise<FeedPosition> {
    let found = BEGINNING;
    let [low, high] = [0, blockOf(position)];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      const block = await this.blockUpTo(middle, caller);
      if (block !== undefined && block.time > time - CLOCK_DIFFERENCE_US) {
        high = blockOf(block.position) - 1;
      } else {
        found = block ?? BEGINNING;
        low = middle;
      }
    }
    return found;
  }

  /** The end of the newest block up to one. */
  private async blockUpTo(block: number, caller?: number): Promise<FeedPosition | undefined> {
    const [row] = await this.database.read(UP_TO, [block], caller);
    return row && endOf(toPosition(row[0], row[1]));
  }
}

/** For the conditions on `types` and `pets`. */
function valuesOf({ type, petId }: EventFilter): unknown[] {
  return [maskOf(type ?? EVENT_TYPES), petId ?? null];
}

function toPosition(block: unknown, time: unknown): FeedPosition {
  return { position: int8ToNumber(block as string), time: int8ToNumber(time as string) };
}

function toBlock([block, time, events]: StoredRow): Block {
  return { ...toPosition(block, time), events: events as string | null };
}

/** The end of a block that has the block's own position. */
function endOf({ position, time }: FeedPosition): FeedPosition {
  return { position: endOfBlock(position), time };
}

function eventsIn({ position, time, events }: Block, filter: EventFilter): StoredEvent[] {
  return events === null
    ? []
    : eventsOfBlock(position, time, events).filter((event) => matches(event, filter));
}

/** The last block that was read, if the page ended before all were. */
function endOfPage(blocks: readonly Block[], most: number): Block | undefined {
  const isOver = blocks.length > most || blocks.at(-1)?.events === null;
  return isOver ? blocks.findLast(({ events }) => events !== null)! : undefined;
}
