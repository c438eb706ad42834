// The hand-written peer of the benchmark: Fastify and `pg`, and one prepared statement for each request. docs/development/benchmark.md says what it
// does and what it leaves out.
import cluster from 'node:cluster';
import { createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import fastify from 'fastify';
import pg from 'pg';

const SCHEMA = `
  CREATE TABLE categories (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, description text);
  CREATE TABLE pets (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL,
    category_id bigint NOT NULL REFERENCES categories (id), status text NOT NULL);
  CREATE TABLE inventory (pet_id bigint PRIMARY KEY REFERENCES pets (id), quantity int NOT NULL CHECK (quantity >= 0));
  CREATE TABLE orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, pet_id bigint NOT NULL REFERENCES pets (id),
    quantity int NOT NULL, ship_date timestamptz, complete boolean NOT NULL DEFAULT false);
  CREATE TABLE idempotency_records (owner bigint, key text, fingerprint text, status int, body text,
    created_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (key, owner));
  CREATE TABLE events (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, type text NOT NULL, pet_id bigint,
    data jsonb NOT NULL, at timestamptz NOT NULL DEFAULT now())`;

const { DATABASE_URL, PORT, API_KEY, PROCESSES } = process.env;
const LIMIT = 1_000_000_000;
const DAY_MS = 86_400_000;
const OWNER = 1;

const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10 });
if (cluster.isPrimary) await pool.query(SCHEMA);
const app = fastify({ logger: false });

/** Runs a prepared statement, named by its text. */
const names = new Map();
async function query(text, values) {
  const name = names.get(text) ?? `s${names.size}`;
  names.set(text, name);
  return (await pool.query({ name, text, values })).rows;
}

const hash = (text) => createHash('sha256').update(text).digest('hex');
const keys = new Map([[hash(API_KEY), { minute: { used: 0, end: 0 }, day: { used: 0, end: 0 } }]]);

const refuse = (reply, status, code) => reply.code(status).send({ code, message: code, status });

app.addHook('onRequest', (request, reply, done) => {
  const client = keys.get(hash(request.headers['x-api-key'] ?? ''));
  if (client === undefined) {
    return void refuse(reply, 401, 'invalid_api_key');
  }
  const now = Date.now();
  const { minute, day } = client;
  if (now >= minute.end) Object.assign(minute, { used: 0, end: now + 60_000 });
  if (now >= day.end) Object.assign(day, { used: 0, end: (Math.floor(now / DAY_MS) + 1) * DAY_MS });
  if (minute.used >= LIMIT || day.used >= LIMIT) {
    return void refuse(reply, 429, 'rate_limit_exceeded');
  }
  minute.used += 1;
  day.used += 1;
  reply
    .header('X-RateLimit-Limit', LIMIT)
    .header('X-RateLimit-Remaining', LIMIT - minute.used)
    .header('X-RateLimit-Reset', Math.ceil(minute.end / 1_000));
  done();
});

app.addHook('onSend', (request, reply, body, done) => {
  if (reply.statusCode >= 300 || body.startsWith('[')) {
    return done(null, body);
  }
  const tag = `"${createHash('sha1').update(body).digest('base64url')}"`;
  reply.header('ETag', tag);
  if (request.headers['if-none-match'] === tag) {
    reply.code(304);
    return done(null, '');
  }
  done(null, body);
});

const integer = { type: 'integer' };
const string = { type: 'string' };
const object = (properties, required = []) => ({ type: 'object', properties, required });
const PET = object({ id: integer, name: string, categoryId: integer, status: string });
const CATEGORY = object({ id: integer, name: string, description: string });
const STOCK = object({ petId: integer, quantity: integer, status: string });
const ORDER = object({ id: integer, petId: integer, quantity: integer, complete: { type: 'boolean' } });
const one = (schema, status = 200) => ({ response: { [status]: schema } });
const EVENT = object({
  id: string,
  type: string,
  timestamp: string,
  data: { additionalProperties: true, type: 'object' },
});
const many = (items) => one({ type: 'array', items });

const toPet = ({ id, name, category_id, status }) => ({ id: +id, name, categoryId: +category_id, status });
const toCategory = ({ id, name, description }) => ({ id: +id, name, description: description ?? undefined });
const toStock = ({ pet_id, quantity, status }) => ({ petId: +pet_id, quantity, status });
const toOrder = ({ id, pet_id, quantity, complete }) => ({ id: +id, petId: +pet_id, quantity, complete });

function found(reply, [row], map) {
  if (row === undefined) {
    return refuse(reply, 404, 'not_found');
  }
  return map(row);
}

function created(reply, [row], map) {
  if (row === undefined) {
    return refuse(reply, 409, 'insufficient_stock');
  }
  return reply.code(201).send(map(row));
}

/** SQL that stores the response under its key, in the statement that creates the row. */
const recordOf = (row, first) => `record AS (
  INSERT INTO idempotency_records (owner, key, fingerprint, status, body)
  SELECT ${OWNER}, $${first}, $${first + 1}, 201, to_jsonb(${row})::text FROM ${row})`;
const isNew = (first) =>
  `NOT EXISTS (SELECT FROM idempotency_records WHERE owner = ${OWNER} AND key = $${first})`;
/** Runs the statement or, if the request has a key, the statement that stores the response under the key. */
function queryOnce({ headers, url, body }, text, textWithKey, values) {
  const key = headers['idempotency-key'];
  return key ? query(textWithKey, [...values, key, hash(url + JSON.stringify(body))]) : query(text, values);
}

const PET_COLUMNS = 'id, name, category_id, status';

app.get('/health/ready', () => ({ status: 'ok' }));

/** Answers GET of one resource from the row that this statement finds. */
function getOne(path, schema, text, map) {
  app.get(path, { schema: one(schema) }, async ({ params }, reply) =>
    found(reply, await query(text, [params.id]), map),
  );
}

getOne('/pets/:id', PET, `SELECT ${PET_COLUMNS} FROM pets WHERE id = $1`, toPet);

app.get('/pets', { schema: many(PET) }, async ({ query: { id, status, cursor = 0, limit = 20 } }) => {
  const rows = id
    ? await query(`SELECT ${PET_COLUMNS} FROM pets WHERE id = ANY ($1) ORDER BY id LIMIT 20`, [[id].flat()])
    : await query(`SELECT ${PET_COLUMNS} FROM pets WHERE status = $1 AND id > $2 ORDER BY id LIMIT $3`, [
        status,
        cursor,
        limit,
      ]);
  return rows.map(toPet);
});
getOne('/categories/:id', CATEGORY, 'SELECT id, name, description FROM categories WHERE id = $1', toCategory);
const CREATE_CATEGORY = `WITH new AS (INSERT INTO categories (name) VALUES ($1) RETURNING *),
  event AS (INSERT INTO events (type, data) SELECT 'category.created', to_jsonb(new) FROM new) SELECT * FROM new`;
app.post('/categories', { schema: one(CATEGORY, 201) }, async ({ body }, reply) => {
  const rows = await query(CREATE_CATEGORY, [body.name]);
  return reply.code(201).send(toCategory(rows[0]));
});

const ORDER_COLUMNS = 'id, pet_id, quantity, complete';
getOne('/store/orders/:id', ORDER, `SELECT ${ORDER_COLUMNS} FROM orders WHERE id = $1`, toOrder);
app.get('/store/orders', { schema: many(ORDER) }, async ({ query: { cursor = 0, limit = 20 } }) => {
  const text = `SELECT ${ORDER_COLUMNS} FROM orders WHERE id > $1 ORDER BY id LIMIT $2`;
  return (await query(text, [cursor, limit])).map(toOrder);
});
const PATCH_ORDER = `UPDATE orders SET ship_date = coalesce($2, ship_date) WHERE id = $1 AND NOT complete RETURNING ${ORDER_COLUMNS}`;
app.patch('/store/orders/:id', { schema: one(ORDER) }, async ({ params, body }, reply) =>
  found(reply, await query(PATCH_ORDER, [params.id, body.shipDate]), toOrder),
);

/** Takes the stock under the pet's row lock. The pet becomes pending with its last unit. */
const TAKE = (
  condition,
) => `pet AS (SELECT id FROM pets WHERE id = $1 AND status = 'available' AND ${condition} FOR UPDATE),
  stock AS (UPDATE inventory SET quantity = quantity - $2 FROM pet WHERE pet_id = pet.id AND quantity >= $2
    RETURNING pet_id, quantity),
  pending AS (UPDATE pets SET status = 'pending' FROM stock WHERE pets.id = stock.pet_id AND stock.quantity = 0),
  placed AS (INSERT INTO orders (pet_id, quantity) SELECT pet_id, $2 FROM stock RETURNING ${ORDER_COLUMNS}),
  event AS (INSERT INTO events (type, pet_id, data) SELECT 'order.placed', pet_id, to_jsonb(placed) FROM placed)`;
const PLACE = `WITH ${TAKE('true')} SELECT * FROM placed`;
const PLACE_WITH_KEY = `WITH ${TAKE(isNew(3))}, ${recordOf('placed', 3)} SELECT * FROM placed`;
const NEW_ORDER = object({ petId: integer, quantity: { type: 'integer', minimum: 1, default: 1 } }, [
  'petId',
]);

app.post('/store/orders', { schema: { body: NEW_ORDER, ...one(ORDER, 201) } }, async (request, reply) => {
  const { petId, quantity } = request.body;
  return created(reply, await queryOnce(request, PLACE, PLACE_WITH_KEY, [petId, quantity]), toOrder);
});

const CREATE = (
  condition,
) => `new AS (INSERT INTO pets (name, category_id, status) SELECT $1, $2, $3 WHERE ${condition}
    RETURNING ${PET_COLUMNS}),
  stock AS (INSERT INTO inventory SELECT id, 1 FROM new),
  event AS (INSERT INTO events (type, pet_id, data) SELECT 'pet.created', id, to_jsonb(new) FROM new)`;
const CREATE_PET = `WITH ${CREATE('true')} SELECT * FROM new`;
const CREATE_PET_WITH_KEY = `WITH ${CREATE(isNew(4))}, ${recordOf('new', 4)} SELECT * FROM new`;
const NAME = { type: 'string', minLength: 1, maxLength: 200 };
const NEW_PET = object({ name: NAME, categoryId: integer, status: string }, ['name', 'categoryId']);

app.post('/pets', { schema: { body: NEW_PET, ...one(PET, 201) } }, async (request, reply) => {
  const { name, categoryId, status = 'available' } = request.body;
  const values = [name, categoryId, status];
  return created(reply, await queryOnce(request, CREATE_PET, CREATE_PET_WITH_KEY, values), toPet);
});

const PATCH_PET = `WITH changed AS (UPDATE pets SET name = coalesce($2, name), category_id = coalesce($3, category_id),
    status = coalesce($4, status) WHERE id = $1 RETURNING ${PET_COLUMNS}),
  event AS (INSERT INTO events (type, pet_id, data) SELECT 'pet.updated', id, to_jsonb(changed) FROM changed)
  SELECT * FROM changed`;
const PET_PATCH = object({ name: NAME, categoryId: integer, status: string });
app.patch('/pets/:id', { schema: { body: PET_PATCH, ...one(PET) } }, async ({ params, body }, reply) =>
  found(reply, await query(PATCH_PET, [params.id, body.name, body.categoryId, body.status]), toPet),
);

/** Changes the stock under the pet's row lock. A pet that has units again becomes available. */
const CHANGE = (quantity, condition) => `WITH pet AS (SELECT id, status FROM pets WHERE id = $1 FOR UPDATE),
  stock AS (UPDATE inventory SET quantity = ${quantity} FROM pet WHERE pet_id = pet.id AND ${condition}
    RETURNING pet_id, quantity),
  event AS (INSERT INTO events (type, pet_id, data) SELECT 'inventory.updated', pet_id, to_jsonb(stock) FROM stock),
  available AS (UPDATE pets SET status = 'available' FROM stock
    WHERE pets.id = stock.pet_id AND stock.quantity > 0 AND status <> 'available')`;
const RESULT = `result AS (SELECT pet_id, quantity, CASE WHEN quantity > 0 THEN 'available' ELSE status END AS status
  FROM stock JOIN pet ON pet.id = pet_id)`;
const SET_STOCK = `${CHANGE('$2', 'true')}, ${RESULT} SELECT * FROM result`;
const ADJUST_STOCK = `${CHANGE('quantity + $2', 'quantity + $2 >= 0')}, ${RESULT} SELECT * FROM result`;
const ADJUST_STOCK_WITH_KEY = `${CHANGE('quantity + $2', `quantity + $2 >= 0 AND ${isNew(3)}`)}, ${RESULT},
  ${recordOf('result', 3)} SELECT * FROM result`;
const QUANTITY = object({ quantity: { type: 'integer', minimum: 0 } }, ['quantity']);

const FIND_STOCK =
  'SELECT pet_id, quantity, status FROM inventory JOIN pets ON pets.id = pet_id WHERE pet_id = $1';
getOne('/store/inventory/:id', STOCK, FIND_STOCK, toStock);
app.put(
  '/store/inventory/:id',
  { schema: { body: QUANTITY, ...one(STOCK) } },
  async ({ params, body }, reply) =>
    found(reply, await query(SET_STOCK, [params.id, body.quantity]), toStock),
);
const ADJUSTMENT = object({ delta: integer }, ['delta']);
app.post(
  '/store/inventory/:id/adjustments',
  { schema: { body: ADJUSTMENT, ...one(STOCK) } },
  async (request, reply) => {
    const values = [request.params.id, request.body.delta];
    return found(reply, await queryOnce(request, ADJUST_STOCK, ADJUST_STOCK_WITH_KEY, values), toStock);
  },
);

/** Emits `write` after each write, which wakes all requests that wait for an event. */
const writes = new EventEmitter().setMaxListeners(0);
app.addHook('onResponse', ({ method }, reply, done) => {
  if (method !== 'GET') writes.emit('write');
  done();
});

app.get('/events', { schema: many(EVENT) }, async ({ query: { cursor = 0, limit = 20, wait } }, reply) => {
  const text = 'SELECT id, type, at, data FROM events WHERE id > $1 ORDER BY id LIMIT $2';
  if (cursor === 'now') [{ cursor }] = await query('SELECT coalesce(max(id), 0) AS cursor FROM events', []);
  let rows = await query(text, [cursor, limit]);
  if (wait && rows.length === 0) {
    await once(writes, 'write', { signal: AbortSignal.timeout(wait * 1_000) }).catch(() => undefined);
    rows = await query(text, [cursor, limit]);
  }
  reply.header('Link', `</events?limit=${limit}&cursor=${rows.at(-1)?.id ?? cursor}>; rel="next"`);
  return rows.map(({ id, type, at, data }) => ({ id: `evt_${id}`, type, timestamp: at.toISOString(), data }));
});

if (cluster.isPrimary && PROCESSES > 1) {
  // Each process counts requests for itself.
  for (let number = 0; number < PROCESSES; number += 1) cluster.fork();
} else {
  process.once('SIGTERM', () => void app.close().then(() => pool.end()));
  await app.listen({ port: Number(PORT), host: '127.0.0.1' });
}
