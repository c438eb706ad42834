import type { Pool } from 'pg';
import { cursorAfter } from '#libs/http';
import { MAX_SEARCHED } from '../../../../../src/modules/events/event-reader';
import { cursorAt } from '../../../../../src/modules/events/feed-position';

/** The numbers of rows. They are large enough that a test notices if a whole table or index is read, and are inserted in a second. */
export const STORE = {
  pets: 15_000,
  categories: 2_000,
  orders: 10_000,
  clients: 1_000,
  events: 50_000,
  /** The first pets are deleted, and the first orders cancelled. */
  gone: 3_000,
  /** The id of a category that has a third of the remaining pets. All of them are available except the newest few. */
  bigCategory: 1,
  /** The id of a pet that has a third of the remaining orders. All of them are open except the newest few. */
  popularPet: 14_000,
  /** The newest pets, and no others, are pending. */
  pending: 20,
  /** One pet of this many has a rare name. */
  rareNameEvery: 1_000,
  /** The time of all events, in seconds since 1970. */
  eventsAt: 1_795_000_000,
} as const;

const { pets, categories, orders, clients, events, gone, bigCategory, popularPet, pending } = STORE;
const { rareNameEvery, eventsAt } = STORE;

/** The day on which the clock of a test begins. */
const TODAY = '2026-11-21';

/** How many of the newest rows have another status than all others in the same category or of the same pet. */
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
  // All events are updates of pets.
  `INSERT INTO events (time, id, type, pet_id, data)
   SELECT to_timestamp(${eventsAt}), md5(n::text)::uuid, 'pet.updated', n,
     json_build_object('id', n, 'name', 'Ada', 'status', 'available', 'categoryId', 1)
   FROM generate_series(1, ${events}) n`,
  // Otherwise the service would look for webhooks of all these events in the background.
  `UPDATE webhook_dispatch SET position = (SELECT max(position) FROM events)`,
  `VACUUM ANALYZE`,
  // The rows of today are inserted after ANALYZE, because statistics never include the newest rows.
  `INSERT INTO usage_days (client_id, day, requests) SELECT id, '${TODAY}', 10 FROM clients`,
];

/** Fills a migrated database that has no rows yet. */
export async function fillLargeStore(pool: Pool): Promise<void> {
  for (const statement of FILLING) {
    await pool.query(statement);
  }
}

// The following queries have each filter, alone and with others.

const PETS = [
  '',
  ...'status=available status=pending status=sold&status=pending'.split(' '),
  ...'status=available&status=pending&status=sold categoryId=1 categoryId=1&status=sold'.split(' '),
  ...'categoryId=1&status=sold&status=pending categoryId=500 categoryId=500&status=pending'.split(' '),
  ...'id=14000&id=14001&id=5 id=14000&id=9001&status=available&categoryId=1'.split(' '),
];
const NAMED_PETS = [
  'name=zephyr name=nobody name=common name=COMMON+7 name=c name=common&status=available&status=sold',
  'name=c&id=14000&id=14001&id=9000',
].flatMap((line) => line.split(' '));
/** Queries that search more names than a page has rows. */
const SEARCHES = [
  'name=zephyr&categoryId=1 name=common&status=pending name=common&categoryId=1',
  'name=c&id=14000&id=9001&status=available&categoryId=1',
].flatMap((line) => line.split(' '));
const INVENTORY = ['', 'status=pending', 'status=pending&status=sold', 'status=available'];
const ORDERS = ['', 'complete=true', 'complete=false', 'petId=3100'].concat(
  ['', '&complete=true', '&complete=false'].map((more) => `petId=${popularPet}${more}`),
);
export const SINGLE_READS = ['/pets/14000', '/pets/1', '/categories/5', '/store/orders/9000'];

/** The targets of two pages of each query: the first one, and one after the entry with the id `deep`. */
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

/** Targets of pages that read only the rows that they return. */
export const PAGES = [
  ...pagesOf('/pets', PETS, 9_000),
  ...pagesOf('/pets', NAMED_PETS, 9_000, 'common 9000'),
  ...pagesOf('/categories', [''], 400),
  ...pagesOf('/categories', ['name=common', 'name=nobody'], 400, 'common 400'),
  ...pagesOf('/store/orders', ORDERS, 7_000),
];
export const INVENTORY_PAGES = pagesOf('/store/inventory', INVENTORY, 9_000);
export const SEARCHED_PAGES = pagesOf('/pets', SEARCHES, 9_000, 'common 9000');
/** A page has 20 events. Four more are read: where the feed ends, and where the page begins, ends and could end. */
const PAGE_EVENTS = 24;
/** A cursor counts the events at the 500 positions before its own. They are read for the cursor of the request and for the next one. */
const ATTESTED = 1_000;
const halfway = (later: number) =>
  cursorAt({ position: events / 2, time: eventsAt * 1_000_000 + later, countBefore: 499 });
/** Pages of events, and how many events each may read. A page with a filter searches a limited number of events. */
export const EVENTS_PAGES: [target: string, most: number][] = [
  ['/events', ATTESTED + PAGE_EVENTS],
  [`/events?cursor=${halfway(0)}`, ATTESTED + PAGE_EVENTS],
  [`/events?cursor=${halfway(1)}`, MAX_SEARCHED + ATTESTED + PAGE_EVENTS],
  ['/events?type=pet.updated', ATTESTED + PAGE_EVENTS],
  ['/events?type=pet.deleted', 2 * MAX_SEARCHED + ATTESTED + PAGE_EVENTS],
  ['/events?petId=7&type=pet.updated', 2 * MAX_SEARCHED + ATTESTED + PAGE_EVENTS],
];
