// A store of any size, and the operations whose cost must not grow with it: docs/development/benchmark.md.
import pg from 'pg';
import { feedOf, get, tagsOf } from './operations.mjs';

/** The newest pets, and no others, are sold. */
const SOLD = 20;
/** This pet has a third of the orders. */
const POPULAR = 1;
/** Half of the pets are in this category; others have fifty, the last thousand none. */
const BIG_CATEGORY = 1;
const DEAR = 1_000_000_000;
const EVENTS_SINCE_US = `(extract(epoch FROM current_date - 20) * 1000000)::bigint`;

/** Each is asked for its first pages and for its last full ones. */
const LISTS = {
  '/pets': 'pets',
  '/pets?status=available': 'pets',
  '/pets?status=sold': 'pets',
  [`/pets?categoryId=${BIG_CATEGORY}`]: 'pets',
  '/pets?categoryId=7': 'pets',
  '/pets?name=zephyr': 'pets',
  '/pets?name=pet': 'pets',
  '/categories?name=category': 'categories',
  '/store/inventory?status=sold': 'pets',
  '/store/orders?complete=false': 'orders',
  '/store/orders?complete=true': 'orders',
  [`/store/orders?petId=${POPULAR}`]: 'orders',
  '/webhooks/1/deliveries': 'deliveries',
  '/webhooks/1/deliveries?status=failed': 'deliveries',
};

const cursorOf = (text) => Buffer.from(text).toString('base64url');
const cursorAfter = (id) => cursorOf(`after:${id}`);
/** Pages after a hundred ids that follow each other, because the same page is read once for all that wait for it. */
const hundred = (path, first, cursor = cursorAfter) =>
  Array.from({ length: 100 }, (_none, n) =>
    get(`${path}${path.includes('?') ? '&' : '?'}cursor=${cursor(first + n)}`),
  );
/** @param most costs at most so many times what another operation costs, instead of what the same does in a small store */
const feed = (query, from, most) => ({
  requests: (store) => hundred(`/events?${query}`, from(store), store.eventCursor),
  most,
});

/** Besides those of the benchmark. */
export const GROWING = {
  ...Object.fromEntries(
    Object.entries(LISTS).flatMap(([path, kind]) => {
      const [, name] = path.split('name=');
      const cursor = name === undefined ? cursorAfter : (id) => cursorOf(`after:${id}:${name} ${id}`);
      const last = ({ last }) => hundred(path, Math.max(1, last[kind] - 120), cursor);
      return [
        [`first ${path}`, { requests: () => hundred(path, 1, cursor) }],
        [`last ${path}`, { requests: last }],
      ];
    }),
  ),
  'feed-last': feed('limit=100', ({ last }) => last.events - 200),
  // It looks at 20,000 events at most.
  'feed-pet': feed('petId=7', () => 1, ['feed-last', 5]),
  'get-usage': { requests: () => [get('/usage?days=30')] },
};

/** As much of everything as belongs to so many pets. The client of the benchmark has the number 1. */
const filling = (pets) => [
  `INSERT INTO categories (name) SELECT 'Category ' || n FROM generate_series(1, ${1_000 + pets / 100}) n`,
  `INSERT INTO pets (name, category_id, stock, status)
   SELECT CASE WHEN n % ${pets / 10} = 8 THEN 'Zephyr ' ELSE 'Pet ' END || n,
     CASE WHEN n % 2 = 0 THEN ${BIG_CATEGORY} ELSE 1 + n / 2 % ${pets / 100} END, ${DEAR},
     CASE WHEN n > ${pets - SOLD} THEN 'sold' WHEN n % 10 = 0 THEN 'pending' ELSE 'available' END
   FROM generate_series(1, ${pets}) n`,
  `INSERT INTO orders (pet_id, quantity, complete, cancelled_at)
   SELECT CASE WHEN n % 3 = 0 THEN ${POPULAR} ELSE 2 * n END, 1, n % 10 = 1, CASE WHEN n % 10 = 2 THEN now() END
   FROM generate_series(1, ${pets / 2}) n`,
  `INSERT INTO events (time, id, type, pet_id, data)
   SELECT to_timestamp(0) + (${EVENTS_SINCE_US} + n) * interval '1 microsecond', md5(n::text)::uuid,
     CASE WHEN n % ${pets / 10} = 8 THEN 'category.deleted' ELSE 'pet.updated' END, n,
     json_build_object('id', n, 'name', 'Pet ' || n, 'status', 'available', 'categoryId', 1)
   FROM generate_series(1, ${pets}) n`,
  `INSERT INTO clients (name, plan) SELECT 'Client ' || n, 'free' FROM generate_series(1, ${pets / 1_000}) n`,
  `INSERT INTO api_keys (client_id, digest, last4, scopes)
   SELECT id, md5(id::text), '0000', '{read}' FROM clients WHERE id > 1`,
  `INSERT INTO usage_days (client_id, day, requests)
   SELECT id, current_date - day, 10 FROM clients, generate_series(1, 30) day`,
  `INSERT INTO deprecated_calls (key_id, operation, day, calls, last_call_at)
   SELECT id, 'getPet', current_date - day, 10, now() FROM api_keys, generate_series(1, 30) day`,
  `INSERT INTO idempotency_records (name, fingerprint, status, body)
   SELECT 1 + n % ${pets / 1_000} || ' key ' || n, md5(n::text), 201, '{"id":1,"petId":1,"quantity":1,"complete":false}'
   FROM generate_series(1, ${pets / 10}) n`,
  `INSERT INTO webhooks (client_id, url, enabled, secrets, created_at)
   SELECT 1, 'https://shop.example', false, '[]', now() FROM generate_series(1, 2)`,
  `INSERT INTO webhook_deliveries (webhook_id, event_id, type, status, attempts, due_at, created_at)
   SELECT 1 + n % 2, 'evt_' || n, 'pet.updated', CASE WHEN n % ${pets / 100} = 7 THEN 'failed' ELSE 'delivered' END,
     1, now(), now() FROM generate_series(1, ${pets / 2}) n`,
];

/** Fills a store as its size asks for, and remembers what requests are made of. */
export async function fillBySql(contender, pets) {
  return withDatabase(contender, async (query) => {
    // What is measured before ANALYZE must not be analyzed on the side.
    await query('ALTER SYSTEM SET autovacuum = off');
    await query('SELECT pg_reload_conf()');
    for (const statement of filling(pets)) await query(statement);
    const idsOf = (table, which) =>
      query(`SELECT id::int FROM ${table} WHERE ${which} ORDER BY id LIMIT 1000`).then((rows) =>
        rows.map(({ id }) => id),
      );
    const [{ since }] = await query(`SELECT ${EVENTS_SINCE_US}::float8 AS since`);
    const placed = await idsOf(
      'orders',
      `(id - 3) % ${pets / 1_000} = 0 AND cancelled_at IS NULL AND NOT complete`,
    );
    return {
      categoryId: 7,
      pets: await idsOf('pets', `(id - 3) % ${pets / 1_000} = 0 AND status = 'available'`),
      placed,
      tags: await tagsOf(contender, placed),
      feed: await feedOf(contender),
      cursorAfter,
      last: { pets, categories: 1_000 + pets / 100, orders: pets / 2, events: pets, deliveries: pets / 2 },
      eventCursor: (position) =>
        cursorOf(`event:${position}.${since + position}.${Math.min(499, position - 1)}`),
    };
  });
}

export const analyze = (contender) => withDatabase(contender, (query) => query('ANALYZE'));

async function withDatabase({ environment }, work) {
  const client = new pg.Client(environment.DATABASE_URL);
  await client.connect();
  try {
    return await work(async (statement) => (await client.query(statement)).rows);
  } finally {
    await client.end();
  }
}
