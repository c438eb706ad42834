import type { Pool } from 'pg';
import { cursorAfter } from '#libs/http';
import { MAX_SEARCHED } from '../../../../../src/modules/events/event-reader';
import { cursorAt } from '../../../../../src/modules/events/feed-position';

/** Enough rows that reading all of a table, or of an index, shows; entered in a second. */
export const STORE = {
  pets: 15_000,
  categories: 2_000,
  orders: 10_000,
  clients: 1_000,
  commits: 50_000,
  /** The first pets are deleted, and the first orders cancelled. */
  gone: 3_000,
  /** A third of the pets that are left are in this category, all of them available but the newest few. */
  bigCategory: 1,
  /** A third of the orders that are left are of this pet, all of them open but the newest few. */
  popularPet: 14_000,
  /** The newest pets, and no others, are pending. */
  pending: 20,
  /** Every so many pets, one has a rare name. */
  rareNameEvery: 1_000,
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
  `INSERT INTO inventory (pet_id, stock) SELECT id, 100 FROM pets`,

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

// What is asked for: each filter, alone and with others, from the beginning of a list and from deep inside it.

const PETS = [
  '',
  'status=available',
  'status=pending',
  'status=sold&status=pending',
  'status=available&status=pending&status=sold',
  'categoryId=1',
  'categoryId=1&status=sold',
  'categoryId=1&status=sold&status=pending',
  'categoryId=500',
  'categoryId=500&status=pending',
  'id=14000&id=14001&id=5',
  'id=14000&id=9001&status=available&categoryId=1',
];
const NAMED_PETS = [
  'name=zephyr',
  'name=nobody',
  'name=common',
  'name=COMMON 7',
  'name=c',
  'name=common&status=available&status=sold',
  'name=c&id=14000&id=14001&id=9000',
];
/** More names must be looked at than a page has. */
const SEARCHES = [
  'name=zephyr&categoryId=1',
  'name=common&status=pending',
  'name=common&categoryId=1',
  'name=c&id=14000&id=9001&status=available&categoryId=1',
];
const INVENTORY = ['', 'status=pending', 'status=pending&status=sold', 'status=available'];
const ORDERS = ['', 'complete=true', 'complete=false', 'petId=3100'].concat(
  ['', '&complete=true', '&complete=false'].map((more) => `petId=${popularPet}${more}`),
);
export const SINGLE_READS = ['/pets/14000', '/pets/1', '/categories/5', '/store/orders/9000'];

/** The first page of each query, and one from deep inside. */
function pagesOf(
  path: string,
  queries: string[],
  deep: number,
  name?: string,
): [first: string, deep: string][] {
  return queries.map((query) => [
    `${path}?${query}`,
    `${path}?${query}${query && '&'}cursor=${cursorAfter(deep, name)}`,
  ]);
}

/** Pages that cost no more than their rows. */
export const PAGES = [
  ...pagesOf('/pets', PETS, 9_000),
  ...pagesOf('/pets', NAMED_PETS, 9_000, 'common 9000'),
  ...pagesOf('/categories', [''], 400),
  ...pagesOf('/categories', ['name=common', 'name=nobody'], 400, 'common 400'),
  ...pagesOf('/store/orders', ORDERS, 7_000),
];
export const INVENTORY_PAGES = pagesOf('/store/inventory', INVENTORY, 9_000);
export const SEARCHED_PAGES = pagesOf('/pets', SEARCHES, 9_000, 'common 9000');
/** A page has 20 events; the other four are where the feed ends, and where the page begins, ends and could end. */
const PAGE_EVENTS = 24;
/** What a cursor attests, and the next one. */
const ATTESTED = 1_000;
const halfway = (later: number) =>
  cursorAt({ position: commits / 2, time: eventsAt * 1_000_000 + later, countBefore: 499 });
/** Pages of events, and how many events they may look at: a filter looks for its events, but not for ever. */
export const EVENTS_PAGES: [target: string, most: number][] = [
  ['/events', ATTESTED + PAGE_EVENTS],
  [`/events?cursor=${halfway(0)}`, ATTESTED + PAGE_EVENTS],
  [`/events?cursor=${halfway(1)}`, MAX_SEARCHED + ATTESTED + PAGE_EVENTS],
  ['/events?type=pet.updated', ATTESTED + PAGE_EVENTS],
  ['/events?type=pet.deleted', 2 * MAX_SEARCHED + ATTESTED + PAGE_EVENTS],
  ['/events?petId=7&type=pet.updated', 2 * MAX_SEARCHED + ATTESTED + PAGE_EVENTS],
];
