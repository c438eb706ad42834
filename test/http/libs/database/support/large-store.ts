import type { Pool } from 'pg';

/** Enough rows that reading all of a table shows in the plan, entered in a few seconds. */
export const STORE = {
  pets: 75_000,
  categories: 10_000,
  orders: 50_000,
  clients: 5_000,
  commits: 100_000,
  /** The first pets are deleted, and the first orders cancelled. */
  gone: 15_000,
  /** A third of the pets that are left are in this category, all of them available but the newest few. */
  bigCategory: 1,
  /** A third of the orders that are left are of this pet, all of them open but the newest few. */
  popularPet: 70_000,
  /** The newest pets, and no others, are pending. */
  pending: 20,
  /** Every so many pets, one has a rare name. */
  rareNameEvery: 5_000,
  /** When all events were written: seconds since 1970. */
  eventsAt: 1_795_000_000,
} as const;

const { pets, categories, orders, clients, commits, gone, bigCategory, popularPet, pending } = STORE;
const { rareNameEvery, eventsAt } = STORE;

/** When the service's clock starts in tests. */
const TODAY = '2026-11-21';

/** How many of the newest rows are unlike the others of their kind. */
const EXCEPTIONS = 3;

const FILLING = [
  `INSERT INTO categories (name)
   SELECT CASE WHEN n % 2 = 0 THEN 'Common ' ELSE substr(md5(n::text), 1, 6) END || n FROM generate_series(1, ${categories}) n`,

  `INSERT INTO pets (name, category_id, former_category_id, status, deleted_at)
   SELECT
     CASE WHEN n % ${rareNameEvery} = 0 THEN 'Zephyr ' WHEN n % 2 = 0 THEN 'Common ' ELSE substr(md5(n::text), 1, 6) END || n,
     CASE WHEN n > ${gone} THEN category END,
     CASE WHEN n <= ${gone} THEN category END,
     CASE
       WHEN n > ${pets - pending} THEN 'pending'
       WHEN category <> ${bigCategory} AND n % 5 < 3 THEN 'sold'
       WHEN category = ${bigCategory} AND n > ${pets - pending - 3 * EXCEPTIONS} THEN 'sold'
       ELSE 'available'
     END,
     CASE WHEN n <= ${gone} THEN now() END
   FROM (SELECT n, CASE WHEN n % 3 = 0 THEN ${bigCategory} ELSE n % ${categories} + 1 END AS category
         FROM generate_series(1, ${pets}) n) AS numbered ORDER BY n`,

  `INSERT INTO inventory (pet_id, quantity) SELECT id, 100 FROM pets`,

  `INSERT INTO orders (pet_id, quantity, complete, cancelled_at)
   SELECT pet, 1,
     n > ${gone} AND (CASE WHEN pet = ${popularPet} THEN n > ${orders - 3 * EXCEPTIONS} ELSE n % 10 < 9 END),
     CASE WHEN n <= ${gone} THEN now() END
   FROM (SELECT n, CASE WHEN n % 3 = 0 THEN ${popularPet} ELSE n END AS pet FROM generate_series(1, ${orders}) n) AS numbered
   ORDER BY n`,

  `INSERT INTO clients (name, plan) SELECT 'filler ' || n, 'free' FROM generate_series(1, ${clients}) n`,
  `INSERT INTO api_keys (client_id, digest, last4, scopes) SELECT id, md5(id::text), '0000', '{read}' FROM clients`,
  `INSERT INTO usage_days (client_id, day, requests)
   SELECT id, DATE '${TODAY}' - day, 10 FROM clients, generate_series(1, 5) day`,
  `INSERT INTO idempotency_records (name, fingerprint, status, body)
   SELECT id || ' key', 'fingerprint', 201, '{}' FROM clients`,
  // All of them are updates of pets.
  `INSERT INTO events (time, id, type, pet_id, data)
   SELECT to_timestamp(${eventsAt}), md5(n::text)::uuid, 'pet.updated', n,
     json_build_object('id', n, 'name', 'Ada', 'status', 'available', 'categoryId', 1)
   FROM generate_series(1, ${commits}) n`,
  // Otherwise the service would look at all of them in the background, for webhooks.
  `UPDATE webhook_dispatch SET position = (SELECT max(position) FROM events)`,
  `VACUUM ANALYZE`,
  // The planner always knows yesterday better than today.
  `INSERT INTO usage_days (client_id, day, requests) SELECT id, '${TODAY}', 10 FROM clients`,
];

/** Fills a migrated database that has no rows yet. */
export async function fillLargeStore(pool: Pool): Promise<void> {
  for (const statement of FILLING) {
    await pool.query(statement);
  }
}
