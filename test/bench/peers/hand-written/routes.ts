import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DatabaseError } from 'pg';
import type { Client } from './clients';
import type { Limits } from './limits';
import { SCHEMAS } from './schemas';
import type { Category, Order, Outcome, Pet, Stock, Store, Use } from './store';

declare module 'fastify' {
  interface FastifyRequest {
    client?: Client;
  }
}

const REFUSALS: Record<string, { status: number; message: string }> = {
  unknown_pet: { status: 422, message: 'There is no such pet.' },
  unknown_category: { status: 422, message: 'There is no such category.' },
  pet_not_found: { status: 404, message: 'There is no such pet.' },
  category_not_found: { status: 404, message: 'There is no such category.' },
  order_not_found: { status: 404, message: 'There is no such order.' },
  pet_not_available: { status: 409, message: 'The pet is not available.' },
  insufficient_stock: { status: 409, message: 'There is not enough in stock.' },
  invalid_status_transition: { status: 409, message: 'A sold pet cannot become pending.' },
  precondition_failed: { status: 412, message: 'The pet has changed.' },
  validation_failed: { status: 400, message: 'delta must not take the stock above 2147483647.' },
  idempotency_key_reused: { status: 422, message: 'The Idempotency-Key belongs to another request.' },
};

const FOREIGN_KEY_VIOLATION = '23503';

/** The answer to any failure. */
export function fail(reply: FastifyReply, status: number, code: string, message: string): FastifyReply {
  return reply.code(status).type('application/json; charset=utf-8').send({ code, message, status });
}

function refuse(reply: FastifyReply, code: string): FastifyReply {
  const { status, message } = REFUSALS[code]!;
  return fail(reply, status, code, message);
}

type Resource = Pet | Category | Order | Stock;

/** What tells one state of a resource from another. For a pet, store.ts makes the same. */
function tagSource(body: Resource): string {
  if ('categoryId' in body) return `${body.id}|${body.categoryId}|${body.status}|${body.name}`;
  if ('complete' in body) {
    return `${body.id}|${body.petId}|${body.quantity}|${body.shipDate}|${body.complete}`;
  }
  if ('petId' in body) return `${body.petId}|${body.quantity}|${body.status}`;
  return `${body.id}|${body.name}|${body.description}`;
}

/** The tags in a precondition; null where there is none, or any will do. */
function tagsIn(field: string | undefined): string[] | null {
  return field === undefined || field.trim() === '*'
    ? null
    : [...field.matchAll(/"([^"]*)"/g)].map(([, tag]) => tag!);
}

function useOf({ headers, client, method, url, body }: FastifyRequest): Use | undefined {
  const key = headers['idempotency-key'];
  return typeof key === 'string'
    ? {
        owner: client!.id,
        key,
        fingerprint: hash('sha256', `${method} ${url}\n${JSON.stringify(body)}`, 'base64url'),
      }
    : undefined;
}

interface ById {
  Params: { id: number };
}
interface Paged {
  Querystring: { limit: number; cursor: number; id?: number[] };
}

export function addRoutes(app: FastifyInstance, store: Store, limits: Limits): void {
  /** Answers one resource with its tag; a caller who has it already gets none of it, and nothing is counted. */
  function answer(request: FastifyRequest, reply: FastifyReply, body: Resource): FastifyReply {
    const tag = `"${hash('md5', tagSource(body))}"`;
    void reply.header('ETag', tag);
    if (request.method === 'GET' && request.headers['if-none-match']?.includes(tag)) {
      return reply.code(304).headers(limits.refund(request.client!, Date.now())).send();
    }
    return reply.send(body);
  }

  /** Answers what was created, or what was answered to the same key before. */
  function answerCreated(
    request: FastifyRequest,
    reply: FastifyReply,
    use: Use | undefined,
    { code, fingerprint, body }: Outcome,
    make: () => Resource,
    location?: string,
  ): FastifyReply {
    const replayed = fingerprint !== null;
    if (replayed && fingerprint !== use?.fingerprint) return refuse(reply, 'idempotency_key_reused');
    if (replayed) void reply.header('Idempotent-Replayed', 'true');
    if (replayed ? !body!.startsWith('{') : code !== 'done') return refuse(reply, replayed ? body! : code);
    const created = replayed ? (JSON.parse(body!) as Resource) : make();
    if (location && 'id' in created) {
      void reply.code(201).header('Location', `${location}/${created.id}`);
    }
    return answer(request, reply, created);
  }

  function answerPage<Entry extends Pet | Order>(
    { query: { limit }, routeOptions }: FastifyRequest<Paged>,
    reply: FastifyReply,
    entries: Entry[],
  ): Entry[] {
    if (entries.length > limit) {
      entries.pop();
      const next = `${routeOptions.url}?limit=${limit}&cursor=${entries.at(-1)!.id}`;
      void reply.header('Link', `<${next}>; rel="next"`);
    }
    return entries;
  }

  /** One resource by its id. */
  function addRead(
    url: string,
    schema: object,
    statement: Parameters<Store['rows']>[0],
    missing: string,
  ): void {
    app.get<ById>(url, { schema }, async (request, reply) => {
      const [found] = await store.rows<Resource>(statement, [request.params.id]);
      return found ? answer(request, reply, found) : refuse(reply, missing);
    });
  }

  app.get<ById>('/pets/:id', { schema: SCHEMAS.getPet }, async (request, reply) => {
    const { id } = request.params;
    void reply.headers({
      Deprecation: '@1793491200',
      Sunset: 'Mon, 01 Nov 2027 00:00:00 GMT',
      Link: `</docs/guides/deprecation>; rel="deprecation"; type="text/html", </pets?id=${id}>; rel="successor-version"`,
    });
    const [pet] = await store.rows<Pet>('pet', [id]);
    return pet ? answer(request, reply, pet) : refuse(reply, 'pet_not_found');
  });
  addRead('/categories/:id', SCHEMAS.getCategory, 'category', 'category_not_found');
  addRead('/store/orders/:id', SCHEMAS.getOrder, 'order', 'order_not_found');
  addRead('/store/inventory/:id', SCHEMAS.getStock, 'stock', 'pet_not_found');

  app.get<Paged>('/pets', { schema: SCHEMAS.listPets }, async (request, reply) => {
    const { limit, cursor, id } = request.query;
    if (id) {
      return id.length === 1 ? store.rows<Pet>('pet', id) : store.rows<Pet>('petsById', [id]);
    }
    return answerPage(request, reply, await store.rows<Pet>('pets', [cursor, limit + 1]));
  });
  app.get<Paged>('/store/orders', { schema: SCHEMAS.listOrders }, async (request, reply) => {
    const { limit, cursor } = request.query;
    return answerPage(request, reply, await store.rows<Order>('orders', [cursor, limit + 1]));
  });

  app.post<{ Body: Omit<Pet, 'id'> }>('/pets', { schema: SCHEMAS.createPet }, async (request, reply) => {
    const { name, categoryId, status } = request.body;
    const use = useOf(request);
    const rest = `,${JSON.stringify({ name, categoryId, status }).slice(1)}`;
    const outcome = await store.create('createPet', [name, categoryId, status, rest], use);
    const make = () => ({ id: outcome.id, name, categoryId, status });
    return answerCreated(request, reply, use, outcome, make, '/pets');
  });
  app.post<{ Body: Omit<Order, 'id'> }>(
    '/store/orders',
    { schema: SCHEMAS.placeOrder },
    async (request, reply) => {
      const { petId, quantity, shipDate, complete } = request.body;
      const ship = shipDate === undefined ? {} : { shipDate: new Date(shipDate).toISOString() };
      const use = useOf(request);
      const rest = `,${JSON.stringify({ petId, quantity, ...ship, complete }).slice(1)}`;
      const outcome = await store.create(
        'placeOrder',
        [petId, quantity, shipDate ?? null, complete, rest],
        use,
      );
      const make = () => ({ id: outcome.id, petId, quantity, ...ship, complete });
      return answerCreated(request, reply, use, outcome, make, '/store/orders');
    },
  );
  app.post<ById & { Body: { delta: number } }>(
    '/store/inventory/:id/adjustments',
    { schema: SCHEMAS.adjustStock },
    async (request, reply) => {
      const use = useOf(request);
      const outcome = await store.create('adjustStock', [request.params.id, request.body.delta], use);
      const { id, quantity, status } = outcome;
      return answerCreated(request, reply, use, outcome, () => ({ petId: id, quantity, status }));
    },
  );
  app.put<ById & { Body: { quantity: number } }>(
    '/store/inventory/:id',
    { schema: SCHEMAS.setStock },
    async (request, reply) => {
      const stock = await store.change<Stock>('setStock', [request.params.id, request.body.quantity]);
      return stock ? answer(request, reply, stock) : refuse(reply, 'pet_not_found');
    },
  );
  app.patch<ById & { Body: Partial<Pet> }>(
    '/pets/:id',
    { schema: SCHEMAS.patchPet },
    async (request, reply) => {
      const { id } = request.params;
      const { name = null, categoryId = null, status = null } = request.body;
      const tags = tagsIn(request.headers['if-match']);
      const changed = await store
        .change<Pet>('patchPet', [id, name, categoryId, status, tags])
        .catch((error: unknown) => {
          if (error instanceof DatabaseError && error.code === FOREIGN_KEY_VIOLATION) {
            return 'unknown_category';
          }
          throw error;
        });
      if (typeof changed === 'object') return answer(request, reply, changed);
      if (changed) return refuse(reply, changed);
      const [pet] = await store.rows<Pet>('pet', [id]);
      const stale = pet && tags && !tags.includes(hash('md5', tagSource(pet)));
      return refuse(
        reply,
        !pet ? 'pet_not_found' : stale ? 'precondition_failed' : 'invalid_status_transition',
      );
    },
  );
}
