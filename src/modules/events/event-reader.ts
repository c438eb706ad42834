import { Injectable } from '@nestjs/common';
import { Database, type PreparedStatement, type StoredRow, int8ToNumber } from '#libs/database';
import { maskOf } from './event-journal';
import { EVENT_TYPES, type EventType } from './event-types';
import { BLOCK_SIZE, type StoredEvent, blockOf, endOfBlock, eventsOfBlock } from './stored-event';

/** An event must match both. */
export interface EventFilter {
  type?: readonly EventType[];
  petId?: number;
}

export interface EventPage {
  /** In the order of the feed; backwards, newest first. */
  events: StoredEvent[];
  /** The position up to which events were read. */
  reached: number;
  /** False at the end of the feed. */
  hasMore: boolean;
}

/** Maximum blocks that a page reads, and events in matching blocks. */
const BLOCKS_OF_PAGE = 50_000;
const EVENTS_OF_FILTERED_PAGE = 1_000;

/**
 * At most `$3` blocks from `$1` that may match the types `$4` and the pet `$5`. Blocks after `$2` events come without
 * their events. Always returns a row, for the newest position.
 */
function pageOf(direction: string, range: string, order: 'ASC' | 'DESC'): PreparedStatement {
  return {
    name: `event-blocks-${direction}`,
    text: `SELECT newest, page.position, page.time, CASE WHEN page.before < $2 THEN page.events END AS events
    FROM (SELECT coalesce(max(position), 0) AS newest FROM event_blocks) AS edge
    LEFT JOIN LATERAL (
      SELECT position, (extract(epoch FROM time) * 1000000)::bigint AS time, events,
        sum(size) OVER (ORDER BY position ${order}) - size AS before
      FROM (SELECT * FROM event_blocks WHERE ${range}${BLOCKS_OF_PAGE}
          AND types & $4 <> 0 AND ($5::bigint IS NULL OR $5 = ANY(pets))
        ORDER BY position ${order} LIMIT $3) AS found
    ) AS page ON true
    ORDER BY page.position ${order}`,
  };
}

const FORWARD = pageOf('forward', 'position >= $1 AND position < $1 + ', 'ASC');
const BACKWARD = pageOf('backward', 'position <= $1 AND position > $1 - ', 'DESC');

const NEWEST = { name: 'event-blocks-newest', text: 'SELECT max(position) FROM event_blocks' };

interface Block {
  position: number;
  /** Null if the page ends before this block. */
  events: StoredEvent[] | null;
}

/** Reads of events. */
@Injectable()
export class EventReader {
  constructor(private readonly database: Database) {}

  /** Events after a position. With a filter, fewer than `most` may be returned although more follow. */
  async after(position: number, filter: EventFilter, most: number): Promise<EventPage> {
    const first = blockOf(position + 1);
    const { blocks, newest } = await this.read(FORWARD, first, filter, most, (position + 1) % BLOCK_SIZE);
    const found = matching(blocks, filter).filter((event) => event.position > position);
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
      blocks.forEach((block) => found.push(...matching([block], filter).reverse()));
      first = (endOfPage(blocks, most) ?? first - BLOCKS_OF_PAGE + 1) - 1;
    }
    return found.slice(0, most).reverse();
  }

  /** The end of the feed: no existing event is after it, and every later one is. */
  async end(): Promise<number> {
    return endOfBlock(await this.newestBlock());
  }

  /** True if the position was already assigned, even if its event has expired. */
  async isKnown(position: number): Promise<boolean> {
    const [row] = await this.database.query<{ known: boolean }>(
      `SELECT $1 <= coalesce(pg_sequence_last_value('event_blocks_position_seq'), 0) AS known`,
      [blockOf(position)],
    );
    return row!.known;
  }

  /** @returns 0 without any block */
  private async newestBlock(): Promise<number> {
    const [row] = await this.database.read(NEWEST, []);
    return int8ToNumber((row![0] ?? '0') as string);
  }

  /** @param seen number of events in the first block that are not needed */
  private async read(
    statement: PreparedStatement,
    first: number,
    { type, petId }: EventFilter,
    most: number,
    seen = 0,
  ): Promise<{ blocks: Block[]; newest: number }> {
    const isFiltered = type !== undefined || petId !== undefined;
    const size = isFiltered ? Math.max(most, EVENTS_OF_FILTERED_PAGE) : most + seen;
    const values = [first, size, most + 1, maskOf(type ?? EVENT_TYPES), petId ?? null];
    const rows = await this.database.read(statement, values);
    const blocks = rows.filter(([, position]) => position !== null).map(toBlock);
    return { blocks, newest: int8ToNumber(rows[0]![0] as string) };
  }
}

function toBlock([, position, time, events]: StoredRow): Block {
  const block = int8ToNumber(position as string);
  return {
    position: block,
    events: events === null ? null : eventsOfBlock(block, Number(time), events as string),
  };
}

function matching(blocks: readonly Block[], { type, petId }: EventFilter): StoredEvent[] {
  return blocks
    .flatMap(({ events }) => events ?? [])
    .filter((event) => (type?.includes(event.type) ?? true) && (petId ?? event.petId) === event.petId);
}

/** The last block that was read, if the page ended before all were. */
function endOfPage(blocks: readonly Block[], most: number): number | undefined {
  const isOver = blocks.length > most || blocks.at(-1)?.events === null;
  return isOver ? blocks.findLast(({ events }) => events !== null)!.position : undefined;
}
