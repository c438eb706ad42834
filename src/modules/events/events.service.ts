import { Injectable } from '@nestjs/common';
import { InvalidCursorError, type Page, idBefore } from '#libs/http';
import { type EventPage, EventReader } from './event-reader';
import { EventTail } from './event-tail';
import { type EventDto, type ListEventsQuery, toEventDto } from './events.dto';

/** The cursor that starts after the newest event. */
export const NOW = 'now';
/** The position before the first event. */
const BEGINNING = 1;

/** The feed. Each of its pages links to the next. */
@Injectable()
export class EventsService {
  constructor(
    private readonly events: EventReader,
    private readonly tail: EventTail,
  ) {}

  /**
   * @param client the requesting client
   * @param hungUp aborted when the caller has disconnected
   */
  async list(query: ListEventsQuery, client: number, hungUp: AbortSignal): Promise<Page<EventDto>> {
    const after = await this.positionOf(query.cursor);
    if (query.cursor === NOW && query.wait === 0) {
      // Always empty: its link is where the feed stands, before the caller has received any event.
      return { entries: [], lastId: after };
    }
    const { events, reached } = await (query.wait === 0
      ? this.events.after(after, query, query.limit)
      : this.wait(after, query, client, hungUp));
    return { entries: events.map(toEventDto), lastId: reached };
  }

  /** @throws ApiError 400 `invalid_cursor`, also for a position in the future, for instance after a restored backup */
  private async positionOf(cursor: string | undefined): Promise<number> {
    if (cursor === NOW) {
      return this.events.end();
    }
    const position = idBefore(cursor, 'event') || BEGINNING;
    if (position > BEGINNING && !(await this.events.isKnown(position))) {
      throw new InvalidCursorError();
    }
    return position;
  }

  private async wait(
    after: number,
    query: ListEventsQuery,
    client: number,
    hungUp: AbortSignal,
  ): Promise<EventPage> {
    const watch = await this.tail.watch(after, query, query.limit, client);
    try {
      const page = await this.events.after(after, query, query.limit);
      if (page.events.length > 0 || page.hasMore || watch === undefined) {
        return page;
      }
      const events = await watch.next(query.wait * 1_000, hungUp);
      return { ...page, events, reached: events.at(-1)?.position ?? page.reached };
    } finally {
      watch?.close();
    }
  }
}
