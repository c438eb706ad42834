// Checked by Fastify's ajv on the way in, written by its fast-json-stringify on the way out.

const id = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } as const;
const text = { type: 'string' } as const;
const name = { type: 'string', minLength: 1, maxLength: 200, pattern: '\\S' } as const;
const status = { type: 'string', enum: ['available', 'pending', 'sold'] } as const;
const quantity = { type: 'integer', minimum: 1, maximum: 2_147_483_647 } as const;
const stockQuantity = { ...quantity, minimum: 0 } as const;
const delta = {
  type: 'integer',
  minimum: -2_147_483_647,
  maximum: 2_147_483_647,
  not: { const: 0 },
} as const;

function object<Properties extends object>(properties: Properties, ...required: (keyof Properties)[]) {
  return { type: 'object', properties, required, additionalProperties: false } as const;
}

/** Answers are written by these, and need not be checked. */
const answers = {
  error: { type: 'object', properties: { code: text, message: text, status: { type: 'integer' } } },
  pet: { type: 'object', properties: { id, name: text, categoryId: id, status: text } },
  category: { type: 'object', properties: { id, name: text, description: text } },
  order: {
    type: 'object',
    properties: { id, petId: id, quantity, shipDate: text, complete: { type: 'boolean' } },
  },
  stock: { type: 'object', properties: { petId: id, quantity: stockQuantity, status: text } },
} as const;

const byId = { params: object({ id }, 'id') };
const page = {
  limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
  cursor: { type: 'integer', minimum: 0, default: 0 },
} as const;

function answered<Success extends object>(success: Success) {
  return { response: { '2xx': success, '4xx': answers.error } };
}

export const SCHEMAS = {
  getPet: { ...byId, ...answered(answers.pet) },
  listPets: {
    querystring: object({ ...page, id: { type: 'array', items: id, maxItems: 100 } }),
    ...answered({ type: 'array', items: answers.pet }),
  },
  createPet: {
    body: object({ name, categoryId: id, status: { ...status, default: 'available' } }, 'name', 'categoryId'),
    ...answered(answers.pet),
  },
  patchPet: { ...byId, body: object({ name, categoryId: id, status }), ...answered(answers.pet) },
  getCategory: { ...byId, ...answered(answers.category) },
  getOrder: { ...byId, ...answered(answers.order) },
  listOrders: { querystring: object(page), ...answered({ type: 'array', items: answers.order }) },
  placeOrder: {
    body: object(
      {
        petId: id,
        quantity: { ...quantity, default: 1 },
        shipDate: { type: 'string', format: 'date-time' },
        complete: { type: 'boolean', default: false },
      },
      'petId',
    ),
    ...answered(answers.order),
  },
  getStock: { ...byId, ...answered(answers.stock) },
  setStock: { ...byId, body: object({ quantity: stockQuantity }, 'quantity'), ...answered(answers.stock) },
  adjustStock: { ...byId, body: object({ delta }, 'delta'), ...answered(answers.stock) },
};
