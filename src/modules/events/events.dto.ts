import { Cursor, Id, Integer, OneOf, PageQuery } from '#libs/http';
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
  @Cursor({
    description:
      'Where the page starts: `now`, or the one from the `Link` header of the previous page, which is opaque.',
    example: 'now',
  })
  override cursor?: string;

  @OneOf(EVENT_TYPES, {
    times: EVENT_TYPES.length,
    description: 'Only events of one of these types.',
    example: ['order.placed', 'order.cancelled'],
    enumName: 'EventType',
  })
  type?: EventType[];

  @Id({ times: 1, description: 'Only events about this pet, its stock and its orders.', example: 1 })
  petId?: number;

  @Integer({
    min: 0,
    max: MAX_WAIT_SECONDS,
    times: 1,
    description: 'How many seconds to wait for an event if there is none yet.',
    default: 0,
    example: 20,
  })
  wait: number = 0;
}
