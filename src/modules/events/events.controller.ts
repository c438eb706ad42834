import { Controller, Get, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { CallerId } from '#libs/database';
import { DEFAULT_PAGE_SIZE, Operation, type Page, nextLink, Tag, disconnectSignalOf } from '#libs/http';
import { Authenticator, ClientId, ScopeByMethod } from '../auth';
import { type EventPage, EventReader, type LostPosition } from './event-reader';
import { EventTail } from './event-tail';
import { EVENT_EXAMPLE, type EventDto, EventsLostError, ListEventsQuery } from './events.dto';
import { FEED_START, cursorAt, positionAt } from './feed-position';

declare module 'fastify' {
  interface FastifyRequest {
    /** How many milliseconds the request has waited for events. The metrics subtract this time from the response time. */
    waitedMs?: number;
  }
}

const FROM_NOW_ON = 'now';

@Tag({ place: 50, name: 'Events', description: 'The changes of the store.', group: 'Notifications' })
@Controller('events')
@ScopeByMethod()
export class EventsController {
  constructor(
    private readonly events: EventReader,
    private readonly tail: EventTail,
    private readonly authenticator: Authenticator,
  ) {}

  @Get()
  @Operation({
    id: 'listEvents',
    summary: 'List events',
    description:
      'Returns a page of events, oldest first, in one order for all callers. The events of a pet, an order or a category are in the order in which they happened. Follow the link to the next page, which every page has, to read each event once. `wait` keeps an empty response open until an event comes, and counts as one request. `cursor=now` starts with the next event instead of the oldest one. With a filter, a page may be short or empty although more events follow. At the end of the feed, the link stays the same. Events are kept for 30 days.',
    response: {
      description: 'The next events; none if nothing has happened since.',
      page: 'Event',
      example: [EVENT_EXAMPLE],
    },
    errors: [EventsLostError],
    stability: 'experimental',
  })
  async list(
    @Query() query: ListEventsQuery,
    @ClientId() clientId: CallerId,
    @Req() request: FastifyRequest,
  ): Promise<Page<EventDto>> {
    const page = await this.read(query, clientId, request);
    const cursor = cursorAt(page.reached);
    if (page.isLost) {
      throw new EventsLostError(cursor, nextLink(request, cursor));
    }
    return { entries: page.events.map(({ event }) => event), cursor };
  }

  private async read(
    query: ListEventsQuery,
    clientId: CallerId,
    request: FastifyRequest,
  ): Promise<EventPage | LostPosition> {
    const { cursor = cursorAt(FEED_START), wait, limit = DEFAULT_PAGE_SIZE } = query;
    const start = cursor === FROM_NOW_ON ? await this.events.lastPosition(clientId) : positionAt(cursor);
    if (cursor === FROM_NOW_ON && wait === 0) {
      // With `cursor=now` and without `wait`, there can be no events to return. Return an empty page, whose `Link`
      // points to the end of the feed, because the caller continues with this link.
      return { isLost: false, events: [], reached: start, hasMore: false };
    }
    const page = await this.events.pageAfter(start, query, limit, clientId);
    if (wait === 0 || page.isLost || page.events.length > 0 || page.hasMore) {
      return page;
    }
    const hungUp = disconnectSignalOf(request.raw.socket);
    const waiting = { clientId, filter: query, after: page.reached };
    const since = performance.now();
    const seen = await this.tail.waitForEvent(waiting, wait * 1_000, hungUp);
    request.waitedMs = performance.now() - since;
    const found = await this.events.pageAfter(seen, query, limit, clientId);
    // Check the key again, because a key that was revoked or lost its scope during the wait must not receive events.
    await this.authenticator.confirm(request);
    return found;
  }
}
