import { Injectable } from '@nestjs/common';
import { InvalidCursorError, type Page, idBefore } from '#libs/paging';
import { EventReader } from './event-reader';
import { EventTail } from './event-tail';
import type { StoredEvent } from './event.entity';
import { type EventDto, type ListEventsQuery, toEventDto } from './events.dto';

/** The cursor that starts after the newest event. */
export const NOW = 'now';
/** The position before the first event. */
const BEGINNING = 1;

/** The feed. Its pages always say where to go on. */
@Injectable()
export class EventsService {
  constructor(
    private readonly events: EventReader,
    private readonly tail: EventTail,
  ) {}

  /**
   * @param client who asks
   * @param hungUp aborted when nobody waits for the answer any more
   */
  async list(query: ListEventsQuery, client: number, hungUp: AbortSignal): Promise<Page<EventDto>> {
    const after = await this.positionOf(query.cursor);
    const found = await (query.wait === 0
      ? this.events.after(after, query, query.limit)
      : this.wait(after, query, client, hungUp));
    return { entries: found.map(toEventDto), lastId: found.at(-1)?.position ?? after };
  }

  /** @throws ApiError 400 `invalid_cursor`, also for a position in the future, for instance after a backup was restored */
  private async positionOf(cursor: string | undefined): Promise<number> {
    if (cursor === NOW) {
      return this.events.end();
    }
    const position = idBefore(cursor) || BEGINNING;
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
  ): Promise<StoredEvent[]> {
    const watch = await this.tail.watch(after, query, query.limit, client);
    try {
      const found = await this.events.after(after, query, query.limit);
      return found.length > 0 || watch === undefined ? found : await watch.next(query.wait * 1_000, hungUp);
    } finally {
      watch?.close();
    }
  }
}
