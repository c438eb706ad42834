import { type ReferenceObject, type SchemaObject, getSchemaPath } from '@nestjs/swagger';
import { Cursor, Id, Integer, OneOf, PageQuery, TIMESTAMP_SCHEMA, defineError } from '#libs/http';
import { EVENT_TYPES, type EventType, RESOURCES } from './event.entity';
import { FEED_START, cursorAt } from './feed-position';

const EXAMPLE_CURSOR = cursorAt({ position: 1_099, time: 1_795_253_400_000_000, countBefore: 499 });

export interface EventDto {
  id: string;
  type: EventType;
  timestamp: string;
  data: object;
}

export const EventsLostError = defineError({
  code: 'events_lost',
  status: 410,
  when: 'The service has lost events up to this cursor, in a failover or a restored backup. `Link` has the cursor to go on from.',
  message: (cursor: string, _link: string) =>
    `Events up to this cursor were lost when a standby took over or a backup was restored. Go on from cursor=${cursor}, which may repeat events of the last minute before, and check what you have stored.`,
  headers: (_cursor: string, link: string) => ({ Link: link }),
  example: [EXAMPLE_CURSOR, `</events?cursor=${EXAMPLE_CURSOR}>; rel="next"`],
});

export class ListEventsQuery extends PageQuery {
  @Cursor({
    description:
      'Position in the feed at which the page starts: `now`, or the cursor in the `Link` header of the previous page.',
    example: cursorAt(FEED_START),
  })
  override cursor?: string;

  @OneOf(EVENT_TYPES, {
    times: EVENT_TYPES.length,
    description: 'Only events of one of these types.',
    example: ['order.placed', 'order.cancelled'],
    enumName: 'EventName',
  })
  type?: EventType[];

  @Id({ times: 1, description: 'Only events about this pet, its stock and its orders.', example: 1 })
  petId?: number;

  @Integer({
    min: 0,
    max: 30,
    times: 1,
    description: 'How many seconds to wait for an event if there is none yet. Default: 0, at most 30.',
    default: 0,
    example: 1,
  })
  wait: number = 0;
}

export const EVENT_EXAMPLE: EventDto = {
  id: 'evt_0b6e3c1e6f0c4a579d0e3f4b8b0d2c11',
  type: 'order.placed',
  timestamp: '2026-11-21T09:30:00.123456Z',
  data: { id: 1, petId: 1, quantity: 1, complete: false },
};

const TYPE = 'What happened.';

/** Builds the OpenAPI schema of events about one resource. `event.id` is a regular expression for the ids of these events. */
export function eventSchema(event: {
  description: string;
  id: string;
  types: readonly string[];
  data: SchemaObject | ReferenceObject;
}): SchemaObject {
  const { description, id, types, data } = event;
  return {
    type: 'object',
    description,
    required: ['id', 'type', 'timestamp', 'data'],
    properties: {
      id: {
        type: 'string',
        pattern: id,
        maxLength: 36,
        description: 'Unique, the same wherever the event is sent.',
      },
      type: { type: 'string', enum: [...types], description: TYPE, example: types[0] },
      timestamp: {
        ...TIMESTAMP_SCHEMA,
        description: 'When the change happened, in UTC.',
        example: EVENT_EXAMPLE.timestamp,
      },
      data,
    },
  };
}

export function anyEvent(
  description: string,
  schemas: readonly { schema: string; types: readonly string[] }[],
): SchemaObject {
  const mapping = schemas.flatMap(({ schema, types }) => types.map((type) => [type, getSchemaPath(schema)]));
  return {
    description,
    oneOf: schemas.map(({ schema }) => ({ $ref: getSchemaPath(schema) })),
    discriminator: { propertyName: 'type', mapping: Object.fromEntries(mapping) as Record<string, string> },
  };
}

function ofResource({ types, data }: (typeof RESOURCES)[number]): SchemaObject {
  return eventSchema({
    description: `An event whose type begins with \`${types[0].split('.')[0]}.\`.`,
    id: '^evt_[0-9a-f]{32}$',
    types,
    data: {
      allOf: [{ $ref: getSchemaPath(data) }],
      description: 'The resource after the event, or before its deletion or cancellation.',
    },
  });
}

export const EVENT_SCHEMAS: Record<string, SchemaObject> = {
  EventName: {
    type: 'string',
    enum: [...EVENT_TYPES],
    description: `${TYPE} New types may be added at any time, so filter by the types that you know.`,
  },
  Event: anyEvent(
    'A change of the store. `type` names the kind of change, and the schema of `data` follows from `type`.',
    RESOURCES,
  ),
  ...Object.fromEntries(RESOURCES.map((resource) => [resource.schema, ofResource(resource)])),
};
