import { Controller, Get, Query, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { type FeedPage, Operation, nextLink } from '#libs/http';
import { Authenticator, ClientId, ScopeByMethod } from '../auth';
import { EVENT_EXAMPLE } from './event-schemas';
import { type EventDto, EventsLostError, EXAMPLE_CURSOR, ListEventsQuery } from './events.dto';
import { EventsService } from './events.service';

@ApiTags('Events')
@Controller('events')
@ScopeByMethod()
export class EventsController {
  constructor(
    private readonly events: EventsService,
    private readonly authenticator: Authenticator,
  ) {}

  @Get()
  @Operation({
    id: 'listEvents',
    summary: 'Follow what happens',
    description:
      'Returns a page of events in the order in which they were committed, oldest first. Follow `Link` with `rel="next"`, which every page has, and you read every event once. `wait` keeps an empty response open until an event comes; it counts as one request. `cursor=now` starts with the next event instead of the oldest one; without `wait` its page is empty, and the link says where the feed stands. With a filter, a page may be short or empty although more events follow; at the end of the feed, the link stays the same. Events are kept for 30 days.',
    response: {
      description: 'The next events; none if nothing has happened since.',
      page: 'Event',
      paging: {
        link: {
          description:
            'The next page of the feed, as `rel="next"` (RFC 8288). Every page has it, even an empty one.',
          example: `<{path}?cursor=${EXAMPLE_CURSOR}>; rel="next"`,
          required: true,
        },
      },
      example: [EVENT_EXAMPLE],
    },
    errors: [EventsLostError],
    stability: 'experimental',
  })
  list(
    @Query() query: ListEventsQuery,
    @ClientId() clientId: number,
    @Req() request: FastifyRequest,
  ): Promise<FeedPage<EventDto>> {
    // The caller may have left while its key was looked up, and the signal would not tell.
    const hungUp = request.raw.destroyed ? AbortSignal.abort() : request.signal;
    const confirmKey = () => this.authenticator.confirm(request);
    const linkTo = (cursor: string) => nextLink(request, cursor);
    return this.events.list(query, { client: clientId, hungUp, confirmKey, linkTo });
  }
}
