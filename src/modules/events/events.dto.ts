import {
  PageQuery,
  cursorText,
  QueryField,
  RepeatableQueryField,
  resourceId,
  integer,
  oneOf,
} from '#libs/http';
import { EVENT_TYPES, type EventType, type StoredEvent } from './event-blocks';

/** An event in a response. */
export interface EventDto {
  id: string;
  type: EventType;
  timestamp: string;
  data: object;
}

export function toEventDto({ id, type, timestamp, data }: StoredEvent): EventDto {
  return { id: `evt_${id}`, type, timestamp, data };
}

const MAX_WAIT_SECONDS = 30;

export class ListEventsQuery extends PageQuery {
  @QueryField(cursorText, {
    description:
      'Where the page starts: `now`, or the one from the `Link` header of the previous page, which is opaque.',
    example: 'now',
  })
  override cursor?: string;

  @RepeatableQueryField(oneOf(EVENT_TYPES), {
    description: 'Only events of one of these types.',
    example: ['order.placed', 'order.cancelled'],
    maxItems: EVENT_TYPES.length,
    enumName: 'EventType',
  })
  type?: EventType[];

  @QueryField(resourceId, {
    description: 'Only events about this pet, its stock and its orders.',
    example: 1,
  })
  petId?: number;

  @QueryField(integer({ min: 0, max: MAX_WAIT_SECONDS }), {
    description: 'How many seconds to wait for an event if there is none yet.',
    default: 0,
    example: 20,
  })
  wait: number = 0;
}
