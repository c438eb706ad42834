import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { getPet, listPets, placeOrder } from './schemas';
import type { NewOrder, Refusal, Store } from './store';

const REFUSALS: Record<Refusal, { status: number; message: string }> = {
  unknown_pet: { status: 422, message: 'There is no such pet.' },
  pet_not_available: { status: 409, message: 'The pet is not available.' },
  insufficient_stock: { status: 409, message: 'There is not enough in stock.' },
};

/** The answer to any failure. */
export function fail(reply: FastifyReply, status: number, code: string, message: string): FastifyReply {
  return reply.code(status).type('application/json; charset=utf-8').send({ code, message, status });
}

/** Gives the serialised answer its tag; a caller who has it already gets none of it. */
function tag(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: null, payload?: unknown) => void,
): void {
  if (reply.statusCode >= 300) {
    done(null, payload);
    return;
  }
  const entityTag = `"${hash('sha1', payload as string, 'base64url').slice(0, 22)}"`;
  void reply.header('ETag', entityTag);
  if (request.method === 'GET' && request.headers['if-none-match']?.includes(entityTag)) {
    void reply.code(304);
    done(null, '');
    return;
  }
  done(null, payload);
}

export function addRoutes(app: FastifyInstance, store: Store): void {
  app.get<{ Params: { petId: number } }>(
    '/pets/:petId',
    { schema: getPet, onSend: tag },
    async ({ params: { petId } }, reply) => {
      void reply.headers({
        Deprecation: '@1793491200',
        Sunset: 'Mon, 01 Nov 2027 00:00:00 GMT',
        Link: `</docs/guides/deprecation>; rel="deprecation"; type="text/html", </pets?id=${petId}>; rel="successor-version"`,
      });
      const pet = await store.pet(petId);
      return pet ?? fail(reply, 404, 'pet_not_found', `There is no pet ${petId}.`);
    },
  );

  app.get<{ Querystring: { limit: number; cursor: number } }>(
    '/pets',
    { schema: listPets },
    async ({ query: { limit, cursor } }, reply) => {
      const pets = await store.petsAfter(cursor, limit + 1);
      if (pets.length > limit) {
        pets.pop();
        void reply.header('Link', `</pets?limit=${limit}&cursor=${pets.at(-1)!.id}>; rel="next"`);
      }
      return pets;
    },
  );

  app.post<{ Body: NewOrder }>(
    '/store/orders',
    { schema: placeOrder, onSend: tag },
    async ({ body }, reply) => {
      const outcome = await store.placeOrder(body);
      if (typeof outcome === 'string') {
        const { status, message } = REFUSALS[outcome];
        return fail(reply, status, outcome, message);
      }
      void reply.code(201).header('Location', `/store/orders/${outcome}`);
      return { id: outcome, ...body };
    },
  );
}
