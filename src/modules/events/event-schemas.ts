// Events in the OpenAPI document: one schema for each resource, and `Event`, which is one of them.
import { type ReferenceObject, type SchemaObject, getSchemaPath } from '@nestjs/swagger';
import { TIMESTAMP_SCHEMA } from '#libs/http';
import { EVENT_TYPES, RESOURCES, eventTypesOf } from './event.entity';
import type { EventDto } from './events.dto';

/** An actual event. */
export const EVENT_EXAMPLE: EventDto = {
  id: 'evt_0b6e3c1e6f0c4a579d0e3f4b8b0d2c11',
  type: 'order.placed',
  timestamp: '2026-11-21T09:30:00.123456Z',
  data: { id: 1, petId: 1, quantity: 1, complete: false },
};

const TYPE = 'What happened.';

/** @param id the pattern of its ids */
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
        description: 'Unique identifier. The same event has the same id wherever it is sent.',
      },
      type: { type: 'string', enum: [...types], description: TYPE, example: types[0] },
      timestamp: {
        ...TIMESTAMP_SCHEMA,
        description: 'When it happened, in UTC.',
        example: EVENT_EXAMPLE.timestamp,
      },
      data,
    },
  };
}

type Resource = (typeof RESOURCES)[number];

function ofResource(resource: Resource): SchemaObject {
  return eventSchema({
    description: `An event whose type begins with \`${resource.name}.\`.`,
    id: '^evt_[0-9a-f]{32}$',
    types: eventTypesOf(resource),
    data: {
      allOf: [{ $ref: getSchemaPath(resource.schema) }],
      description: 'The resource right after the event; right before, if it was deleted or cancelled.',
    },
  });
}

/** `PetEvent` */
function schemaName({ name }: Resource): string {
  return `${name[0]!.toUpperCase()}${name.slice(1)}Event`;
}

/** By name, for `components.schemas`. */
export const EVENT_SCHEMAS: Record<string, SchemaObject> = {
  EventName: {
    type: 'string',
    enum: [...EVENT_TYPES],
    description: `${TYPE} There will be more: ask for what you know.`,
  },
  Event: {
    description: 'Something that happened in the store. `type` says what, and what `data` is.',
    oneOf: RESOURCES.map((resource) => ({ $ref: getSchemaPath(schemaName(resource)) })),
    discriminator: {
      propertyName: 'type',
      mapping: Object.fromEntries(
        RESOURCES.flatMap((resource) =>
          eventTypesOf(resource).map((type) => [type, getSchemaPath(schemaName(resource))]),
        ),
      ),
    },
  },
  ...Object.fromEntries(RESOURCES.map((resource) => [schemaName(resource), ofResource(resource)])),
};
