import { sortedKeys } from '../../support/document';
import { useService } from '../../support/use-service';

const service = useService();

interface Schema {
  type?: string;
  format?: string;
  enum?: string[];
  required?: string[];
  properties?: Record<string, Schema>;
  items?: { $ref: string };
  allOf?: { $ref: string }[];
  description?: string;
  additionalProperties?: boolean;
}

const id = { type: 'integer', format: 'int64' };
const count = { type: 'integer' };
const text = { type: 'string' };
const status = { allOf: [{ $ref: '#/components/schemas/PetStatus' }] };
const date = { type: 'string', format: 'date-time' };
const flag = { type: 'boolean' };

/** The tables of the specification ("Resources and their fields"), and those of our own. */
const OBJECTS: [name: string, required: string[], fields: Record<string, object>][] = [
  ['NewPet', ['name', 'categoryId'], { name: text, categoryId: id, status }],
  ['Pet', ['name', 'categoryId', 'id'], { name: text, categoryId: id, status, id }],
  ['NewCategory', ['name'], { name: text, description: text }],
  ['Category', ['name', 'id'], { name: text, description: text, id }],
  ['Order', [], { id, petId: id, quantity: count, shipDate: date, complete: flag }],
  ['InventoryItem', ['petId', 'quantity', 'status'], { petId: id, quantity: count, status }],
  ['InventoryUpdate', ['quantity'], { quantity: count }],
  ['Error', ['code', 'message', 'status'], { code: text, message: text, status: count }],
  ['NewOrder', ['petId'], { petId: id, quantity: count, shipDate: date, complete: flag }],
  ['PetPatch', [], { name: text, categoryId: id, status }],
  ['OrderPatch', [], { shipDate: date, complete: flag }],
  ['InventoryAdjustment', ['delta'], { delta: count }],
  [
    'Key',
    ['id', 'endsWith', 'client', 'plan', 'scopes', 'createdAt'],
    {
      id,
      endsWith: text,
      client: text,
      plan: text,
      scopes: { type: 'array', items: { type: 'string', enum: ['read', 'write'] } },
      createdAt: date,
      expiresAt: date,
      overlapEndsAt: date,
    },
  ],
  [
    'NewWebhook',
    ['url'],
    { url: text, types: { type: 'array' }, description: text, enabled: flag, secret: text },
  ],
  ['WebhookPatch', [], { url: text, types: { type: 'array' }, description: text, enabled: flag }],
  ['Webhook', ['id', 'url', 'enabled', 'createdAt'], {}],
  ['SecretRotation', [], {}],
  ['WebhookWithSecret', ['id', 'url', 'enabled', 'createdAt', 'secret'], {}],
  ['Delivery', ['id', 'eventId', 'type', 'status', 'attempts', 'createdAt'], {}],
  ['TestEvent', ['id', 'type', 'timestamp', 'data'], {}],
  ['RateLimitStatus', ['plan', 'minute', 'day', 'ban'], {}],
  ['Usage', ['days'], {}],
];

const schema = (name: string) => service.document.components!.schemas![name] as Schema;

describe.each(OBJECTS)('%s', (name, required, fields) => {
  it(`requires ${required.join(', ') || 'nothing'}`, () => {
    expect(schema(name).type).toBe('object');
    expect([...(schema(name).required ?? [])].sort()).toEqual([...required].sort());
  });

  it('has the fields of its table, each with a description', () => {
    if (Object.keys(fields).length > 0) {
      expect(sortedKeys(schema(name).properties)).toEqual(Object.keys(fields).sort());
    }
    expect(schema(name).properties).toMatchObject(fields);
    for (const field of Object.values(schema(name).properties!)) {
      expect(field.description).toMatch(/\.$/);
    }
  });
});

it('PetStatus is available, pending or sold', () => {
  const description = 'Status of the animal.';
  expect(schema('PetStatus')).toEqual({
    type: 'string',
    enum: ['available', 'pending', 'sold'],
    description,
  });
});

it('Pets is an array of Pet, limited to the size of a page', () => {
  const items = { $ref: '#/components/schemas/Pet' };
  expect(schema('Pets')).toEqual({ type: 'array', items, maxItems: 100, description: 'One page of pets.' });
});

it('A request body allows no other fields; a response may gain some', () => {
  const closed = OBJECTS.map(([name]) => name).filter((name) => schema(name).additionalProperties === false);
  expect(closed.sort()).toEqual(
    [
      'NewPet',
      'PetPatch',
      'NewCategory',
      'NewOrder',
      'OrderPatch',
      'InventoryUpdate',
      'InventoryAdjustment',
      'NewWebhook',
      'WebhookPatch',
      'SecretRotation',
    ].sort(),
  );
});

it('Optional body fields have no `default`, which generators would send; the description states it', () => {
  for (const [name] of OBJECTS) {
    for (const field of Object.values(schema(name).properties!)) {
      expect(field).not.toHaveProperty('default');
    }
  }
  const told = [
    ['NewOrder', 'quantity', 'Default: 1'],
    ['NewOrder', 'complete', 'Default: false'],
    ['NewPet', 'status', 'Default: `available`'],
    ['NewWebhook', 'enabled', 'Default: true'],
  ] as const;
  for (const [name, field, text] of told) {
    expect(schema(name).properties![field]!.description).toContain(text);
  }
});

it('There are exactly these schemas, besides parts of RateLimitStatus and Usage', () => {
  const events = ['Event', 'EventType', 'PetEvent', 'CategoryEvent', 'OrderEvent', 'InventoryEvent'];
  const named = ['PetStatus', 'Pets', 'DeliveryStatus', ...events, ...OBJECTS.map(([name]) => name)];
  expect(sortedKeys(service.document.components?.schemas)).toEqual(
    [...named, 'RateLimitBan', 'RateLimitWindow', 'UsageDay'].sort(),
  );
});

it('Bounds match the contract', () => {
  const MAX_ID = 9_007_199_254_740_991;
  const field = (name: string, property: string) => schema(name).properties![property];
  expect(field('Pet', 'id')).toMatchObject({ minimum: 1, maximum: MAX_ID });
  expect(field('NewPet', 'name')).toMatchObject({ minLength: 1, maxLength: 200 });
  expect(field('NewCategory', 'description')).toMatchObject({ maxLength: 2_000 });
  expect(field('InventoryUpdate', 'quantity')).toMatchObject({ minimum: 0, maximum: 2_147_483_647 });
  expect(field('NewOrder', 'quantity')).toMatchObject({ minimum: 1, maximum: 2_147_483_647 });
  expect(field('OrderPatch', 'shipDate')).toMatchObject({ nullable: true });
});
