import { Injectable } from '@nestjs/common';
import { DEFAULT_PAGE_SIZE, type FeedPage } from '#libs/http';
import { BEGINNING } from './event';
import { type EventPage, EventReader, EventsLost } from './event-reader';
import { EventTail } from './event-tail';
import {
  type EventDto,
  EventsLostError,
  type ListEventsQuery,
  cursorAt,
  positionAt,
  toEventDto,
} from './events.dto';

/** The cursor that starts after the newest event. */
const NOW = 'now';

/** Who reads the feed. */
export interface Reader {
  /** The id of the client. */
  client: number;
  /** Aborted when the caller has disconnected. */
  hungUp: AbortSignal;
  /** @throws ApiError 401 if the key is not valid any more */
  confirmKey: () => Promise<void>;
  /** The `Link` from this request to the page after a cursor. */
  linkTo: (cursor: string) => string;
}

/** The feed. Each of its pages links to the next. */
@Injectable()
export class EventsService {
  constructor(
    private readonly events: EventReader,
    private readonly tail: EventTail,
  ) {}

  /** @throws ApiError 400 `invalid_cursor`, 410 `events_lost`, 401 if the key is not valid any more after a wait */
  async list(query: ListEventsQuery, reader: Reader): Promise<FeedPage<EventDto>> {
    try {
      const { events, reached } = await this.read(query, reader);
      return { entries: events.map(toEventDto), cursor: cursorAt(reached) };
    } catch (error) {
      if (error instanceof EventsLost) {
        const cursor = cursorAt(error.continueAt);
        throw new EventsLostError(cursor, reader.linkTo(cursor));
      }
      throw error;
    }
  }

  private async read(query: ListEventsQuery, reader: Reader): Promise<EventPage> {
    const { cursor, wait, limit = DEFAULT_PAGE_SIZE } = query;
    const { client } = reader;
    const start =
      cursor === NOW ? await this.events.end(client) : cursor === undefined ? BEGINNING : positionAt(cursor);
    if (cursor === NOW && wait === 0) {
      // Always empty: its link is where the feed stands, before the caller has received any event.
      return { events: [], reached: start, hasMore: false };
    }
    const page = await this.events.after(start, query, limit, client);
    return wait === 0 || page.events.length > 0 || page.hasMore ? page : this.wait(page, query, reader);
  }

  /** @param page the empty one at the end of the feed */
  private async wait(page: EventPage, query: ListEventsQuery, reader: Reader): Promise<EventPage> {
    const { wait, limit = DEFAULT_PAGE_SIZE } = query;
    const waiting = { client: reader.client, after: page.reached, filter: query, most: limit };
    const found = await this.tail.next(waiting, wait * 1_000, reader.hungUp);
    // After the events: what was committed after the key was revoked is not delivered.
    await reader.confirmKey();
    return found;
  }
}
