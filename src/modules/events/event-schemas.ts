// Events in the OpenAPI document: one schema for each resource, and `Event`, which is one of them.
import type { SchemaObject } from '@nestjs/swagger';
import { TIMESTAMP_SCHEMA } from '#libs/http';
import { EVENT_TYPES } from './event.entity';
import type { EventDto } from './events.dto';

/** An actual event. */
export const EVENT_EXAMPLE: EventDto = {
  id: 'evt_0b6e3c1e6f0c4a579d0e3f4b8b0d2c11',
  type: 'order.placed',
  timestamp: '2026-11-21T09:30:00.123456Z',
  data: { id: 1, petId: 1, quantity: 1, complete: false },
};

/** The schema for events whose type starts with this prefix, and that of their resource. */
const RESOURCES = [
  { prefix: 'pet.', event: 'PetEvent', data: 'Pet' },
  { prefix: 'category.', event: 'CategoryEvent', data: 'Category' },
  { prefix: 'order.', event: 'OrderEvent', data: 'Order' },
  { prefix: 'inventory.', event: 'InventoryEvent', data: 'InventoryItem' },
] as const;

const TYPE = 'What happened.';

/** @param id the pattern of its ids */
export function eventSchema(event: {
  description: string;
  id: string;
  types: readonly string[];
  data: SchemaObject;
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
        description: 'When it happened, in UTC, to the microsecond.',
        example: EVENT_EXAMPLE.timestamp,
      },
      data,
    },
  };
}

function ofResource({ prefix, data }: (typeof RESOURCES)[number]): SchemaObject {
  return eventSchema({
    description: `Something happened to a resource of type ${data}.`,
    id: '^evt_[0-9a-f]{32}$',
    types: EVENT_TYPES.filter((type) => type.startsWith(prefix)),
    data: {
      allOf: [reference(data)],
      description: 'The resource right after the event; right before, if it was deleted or cancelled.',
    },
  });
}

function reference(name: string): { $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

/** By name, for `components.schemas`. */
export const EVENT_SCHEMAS: Record<string, SchemaObject> = {
  EventType: { type: 'string', enum: [...EVENT_TYPES], description: TYPE },
  Event: {
    description: 'Something that happened in the store. `type` says what, and what `data` is.',
    oneOf: RESOURCES.map(({ event }) => reference(event)),
    discriminator: {
      propertyName: 'type',
      mapping: Object.fromEntries(
        EVENT_TYPES.map((type) => [
          type,
          reference(RESOURCES.find(({ prefix }) => type.startsWith(prefix))!.event).$ref,
        ]),
      ),
    },
  },
  ...Object.fromEntries(RESOURCES.map((resource) => [resource.event, ofResource(resource)])),
};
