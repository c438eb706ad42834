import { Injectable } from '@nestjs/common';
import { Database, type Statement, type StoredRow, int8ToNumber } from '#libs/database';
import {
  BLOCK_SIZE,
  EVENT_TYPES,
  type EventFilter,
  type StoredEvent,
  blockOf,
  endOfBlock,
  eventsOfBlock,
  maskOf,
  matches,
} from './event-blocks';

export interface EventPage {
  /** In the order of the feed. */
  events: StoredEvent[];
  /** The position up to which events were read. */
  reached: number;
  /** False at the end of the feed. */
  hasMore: boolean;
}

/** Maximum blocks that a page searches, and events in matching blocks. */
const BLOCKS_OF_PAGE = 50_000;
const EVENTS_OF_FILTERED_PAGE = 1_000;
/** Maximum bytes of blocks that a page reads. A response has a little more for each event than its block. */
const BYTES_OF_PAGE = 256 * 1_024 - 100 * BLOCK_SIZE;

/**
 * At most `$3` blocks from `$1` that may match the types `$4` and the pet `$5`. Blocks after `$2` events, and those that
 * would make the page too large, come without their events; the first one always has them. Always returns a row, for the
 * newest position.
 */
function pageOf(range: string, order: 'ASC' | 'DESC'): Statement {
  return {
    text: `SELECT newest, page.position, page.time,
      CASE WHEN page.before < $2 AND (page.bytes <= ${BYTES_OF_PAGE} OR page.before = 0) THEN page.events END AS events
    FROM (SELECT coalesce(max(position), 0) AS newest FROM event_blocks) AS edge
    LEFT JOIN LATERAL (
      SELECT position, (extract(epoch FROM time) * 1000000)::bigint AS time, events,
        sum(size) OVER so_far - size AS before, sum(octet_length(events)) OVER so_far AS bytes
      FROM (SELECT * FROM event_blocks WHERE ${range}${BLOCKS_OF_PAGE}
          AND types & $4 <> 0 AND ($5::bigint IS NULL OR $5 = ANY(pets))
        ORDER BY position ${order} LIMIT $3) AS found
      WINDOW so_far AS (ORDER BY position ${order})
    ) AS page ON true
    ORDER BY page.position ${order}`,
  };
}

const FORWARD = pageOf('position >= $1 AND position < $1 + ', 'ASC');
const BACKWARD = pageOf('position <= $1 AND position > $1 - ', 'DESC');

const NEWEST = { text: 'SELECT max(position) FROM event_blocks' };
const IS_KNOWN = {
  text: `SELECT $1 <= coalesce(pg_sequence_last_value('event_blocks_position_seq'), 0)`,
};

interface Block {
  position: number;
  microseconds: number;
  /** JSON; null if the page ends before this block. */
  events: string | null;
}

/** Reads of events, in SQL, because a page ends where its blocks have enough events or bytes. They take their turn with other reads of the same caller (`Database.read`). */
@Injectable()
export class EventReader {
  constructor(private readonly database: Database) {}

  /**
   * Events after a position: at most `most`, and at most 256 KiB. With a filter, fewer may be returned although more follow.
   * @param caller the id of the client that reads; by default the service itself
   */
  async after(position: number, filter: EventFilter, most: number, caller?: number): Promise<EventPage> {
    const first = blockOf(position + 1);
    const seen = (position + 1) % BLOCK_SIZE;
    const { blocks, newest } = await this.read(FORWARD, first, filter, most, { seen, caller });
    const found: StoredEvent[] = [];
    for (const block of blocks) {
      if (found.length <= most) {
        found.push(...eventsIn(block, filter).filter((event) => event.position > position));
      }
    }
    const events = found.slice(0, most);
    const end = Math.min(newest, endOfPage(blocks, most) ?? first + BLOCKS_OF_PAGE - 1);
    const reached = found.length > most ? events.at(-1)!.position : Math.max(position, endOfBlock(end));
    return { events, reached, hasMore: reached < endOfBlock(newest) };
  }

  /** The newest events, in feed order. */
  async newest(filter: EventFilter, most: number): Promise<StoredEvent[]> {
    const found: StoredEvent[] = [];
    let first = await this.newestBlock();
    while (found.length < most && first > 0) {
      const { blocks } = await this.read(BACKWARD, first, filter, most);
      blocks.forEach((block) => found.push(...eventsIn(block, filter).reverse()));
      first = (endOfPage(blocks, most) ?? first - BLOCKS_OF_PAGE + 1) - 1;
    }
    return found.slice(0, most).reverse();
  }

  /** The end of the feed: no existing event is after it, and every later one is. */
  async end(caller?: number): Promise<number> {
    return endOfBlock(await this.newestBlock(caller));
  }

  /** True if the position was already assigned, even if its event has expired. */
  async isKnown(position: number, caller?: number): Promise<boolean> {
    const [row] = await this.database.read(IS_KNOWN, [blockOf(position)], caller);
    return row![0] as boolean;
  }

  /** @returns 0 without any block */
  private async newestBlock(caller?: number): Promise<number> {
    const [row] = await this.database.read(NEWEST, [], caller);
    return int8ToNumber((row![0] ?? '0') as string);
  }

  /** @param seen number of events in the first block that are not needed */
  private async read(
    statement: Statement,
    first: number,
    { type, petId }: EventFilter,
    most: number,
    { seen = 0, caller }: { seen?: number; caller?: number } = {},
  ): Promise<{ blocks: Block[]; newest: number }> {
    const isFiltered = type !== undefined || petId !== undefined;
    const size = isFiltered ? Math.max(most, EVENTS_OF_FILTERED_PAGE) : most + seen;
    const values = [first, size, most + 1, maskOf(type ?? EVENT_TYPES), petId ?? null];
    const rows = await this.database.read(statement, values, caller);
    const blocks = rows.filter(([, position]) => position !== null).map(toBlock);
    return { blocks, newest: int8ToNumber(rows[0]![0] as string) };
  }
}

function toBlock([, position, time, events]: StoredRow): Block {
  return {
    position: int8ToNumber(position as string),
    microseconds: Number(time),
    events: events as string | null,
  };
}

function eventsIn({ position, microseconds, events }: Block, filter: EventFilter): StoredEvent[] {
  return events === null
    ? []
    : eventsOfBlock(position, microseconds, events).filter((event) => matches(event, filter));
}

/** The last block that was read, if the page ended before all were. */
function endOfPage(blocks: readonly Block[], most: number): number | undefined {
  const isOver = blocks.length > most || blocks.at(-1)?.events === null;
  return isOver ? blocks.findLast(({ events }) => events !== null)!.position : undefined;
}
