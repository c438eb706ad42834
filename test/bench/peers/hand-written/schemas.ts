// Checked by Fastify's ajv on the way in, written by its fast-json-stringify on the way out.

const id = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } as const;
const quantity = { type: 'integer', minimum: 1, maximum: 2_147_483_647 } as const;

const error = {
  type: 'object',
  properties: { code: { type: 'string' }, message: { type: 'string' }, status: { type: 'integer' } },
} as const;

const pet = {
  type: 'object',
  properties: {
    id,
    name: { type: 'string' },
    categoryId: id,
    status: { type: 'string' },
  },
} as const;

const order = {
  type: 'object',
  properties: {
    id,
    petId: id,
    quantity,
    shipDate: { type: 'string' },
    complete: { type: 'boolean' },
  },
} as const;

export const getPet = {
  params: { type: 'object', properties: { petId: id }, required: ['petId'] },
  response: { 200: pet, '4xx': error },
} as const;

export const listPets = {
  querystring: {
    type: 'object',
    properties: {
      limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
      cursor: { type: 'integer', minimum: 0, default: 0 },
    },
    additionalProperties: false,
  },
  response: { 200: { type: 'array', items: pet }, '4xx': error },
} as const;

export const placeOrder = {
  body: {
    type: 'object',
    properties: {
      petId: id,
      quantity: { ...quantity, default: 1 },
      shipDate: { type: 'string', format: 'date-time' },
      complete: { type: 'boolean', default: false },
    },
    required: ['petId'],
    additionalProperties: false,
  },
  response: { 201: order, '4xx': error },
} as const;
