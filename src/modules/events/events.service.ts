import { Injectable } from '@nestjs/common';
import { DEFAULT_PAGE_SIZE, InvalidCursorError, type Page, idBefore } from '#libs/http';
import { type EventPage, EventReader } from './event-reader';
import { EventTail } from './event-tail';
import { type EventDto, type ListEventsQuery, toEventDto } from './events.dto';

/** The cursor that starts after the newest event. */
export const NOW = 'now';
/** The position before the first event. */
const BEGINNING = 1;

/** Who reads the feed. */
export interface Reader {
  /** The id of the client. */
  client: number;
  /** Aborted when the caller has disconnected. */
  hungUp: AbortSignal;
  /** @throws ApiError 401 if the key is not valid any more */
  confirmKey: () => Promise<void>;
}

/** The feed. Each of its pages links to the next. */
@Injectable()
export class EventsService {
  constructor(
    private readonly events: EventReader,
    private readonly tail: EventTail,
  ) {}

  async list(query: ListEventsQuery, reader: Reader): Promise<Page<EventDto>> {
    const after = await this.positionOf(query.cursor, reader);
    if (query.cursor === NOW && query.wait === 0) {
      // Always empty: its link is where the feed stands, before the caller has received any event.
      return { entries: [], lastId: after };
    }
    const { events, reached } = await (query.wait === 0
      ? this.events.after(after, query, query.limit ?? DEFAULT_PAGE_SIZE, reader.client)
      : this.wait(after, query, reader));
    return { entries: events.map(toEventDto), lastId: reached };
  }

  /** @throws ApiError 400 `invalid_cursor`, also for a position in the future, for instance after a restored backup */
  private async positionOf(cursor: string | undefined, { client }: Reader): Promise<number> {
    if (cursor === NOW) {
      return this.events.end(client);
    }
    const position = idBefore(cursor, 'event') || BEGINNING;
    if (position > BEGINNING && !(await this.events.isKnown(position, client))) {
      throw new InvalidCursorError();
    }
    return position;
  }

  private async wait(after: number, query: ListEventsQuery, reader: Reader): Promise<EventPage> {
    const { client, hungUp, confirmKey } = reader;
    const { limit = DEFAULT_PAGE_SIZE } = query;
    const watch = await this.tail.watch({ after, filter: query, most: limit, client });
    try {
      const page = await this.events.after(after, query, limit, client);
      if (page.events.length > 0 || page.hasMore || watch === undefined) {
        return page;
      }
      const events = await watch.next(query.wait * 1_000, hungUp);
      // After the events: what was committed after the key was revoked is not delivered.
      await confirmKey();
      return { ...page, events, reached: events.at(-1)?.position ?? page.reached };
    } finally {
      watch?.close();
    }
  }
}
