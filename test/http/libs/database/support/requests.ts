import { cursorAfter } from '#libs/http';
import { MAX_SEARCHED } from '../../../../../src/modules/events/event-reader';
import { cursorAt } from '../../../../../src/modules/events/events.dto';
import { STORE } from './large-store';

// What is asked for: each filter, alone and with others, from the beginning of a list and from deep inside it.

const PETS = [
  '',
  'status=available',
  'status=pending',
  'status=sold&status=pending',
  'status=sold&status=sold',
  'status=available&status=pending&status=sold',
  `categoryId=${STORE.bigCategory}`,
  `categoryId=${STORE.bigCategory}&status=sold`,
  `categoryId=${STORE.bigCategory}&status=sold&status=pending`,
  'categoryId=500',
  'categoryId=500&status=pending',
  'id=70000&id=70001&id=5',
  `id=70000&id=45001&status=available&categoryId=${STORE.bigCategory}`,
];
const NAMED_PETS = [
  'name=zephyr',
  'name=nobody',
  'name=common',
  'name=COMMON 7',
  'name=c',
  'name=common&status=available&status=sold',
  'name=c&id=70000&id=70001&id=45000',
];
/** More names must be looked at than a page has. */
const SEARCHES = [
  `name=zephyr&categoryId=${STORE.bigCategory}`,
  'name=zephyr&status=pending',
  `name=common&categoryId=${STORE.bigCategory}`,
  `name=c&id=70000&id=45001&status=available&categoryId=${STORE.bigCategory}`,
];
const INVENTORY = ['', 'status=pending', 'status=pending&status=sold', 'status=available'];
const ORDERS = [
  '',
  'complete=true',
  'complete=false',
  `petId=${STORE.popularPet}`,
  `petId=${STORE.popularPet}&complete=true`,
  `petId=${STORE.popularPet}&complete=false`,
  'petId=15500',
];
export const SINGLE_READS =
  '/pets/70000 /pets/1 /categories/5 /store/orders/45000 /store/inventory/70000'.split(' ');

function pagesOf(path: string, queries: string[], deep: number, name?: string): string[] {
  return queries.flatMap((query) =>
    ['', `cursor=${cursorAfter(deep, name)}`].map(
      (cursor) => `${path}?${[query, cursor].filter(Boolean).join('&')}`,
    ),
  );
}

/** Pages that cost no more than their rows. */
export const PETS_PAGES = pagesOf('/pets', PETS, 45_000);
export const OTHER_PAGES = [
  ...pagesOf('/categories', [''], 2_000),
  ...pagesOf('/store/inventory', INVENTORY, 45_000),
  ...pagesOf('/store/orders', ORDERS, 35_000),
];
/** Others of the service may look for new events meanwhile. */
export const FEW = 100;
/** What a cursor attests, and the next one. */
const ATTESTED = 1_000;
/** Pages of events, and how many events they may look at: a filter looks for its events, but not for ever. */
export const EVENTS_PAGES: [target: string, most: number][] = [
  ['/events', ATTESTED + FEW],
  [
    `/events?cursor=${cursorAt({ position: STORE.commits / 2, time: STORE.eventsAt * 1_000_000, countBefore: 499 })}`,
    ATTESTED + FEW,
  ],
  [
    `/events?cursor=${cursorAt({ position: STORE.commits / 2, time: STORE.eventsAt * 1_000_000 + 1, countBefore: 499 })}`,
    MAX_SEARCHED + ATTESTED + FEW,
  ],
  ['/events?type=pet.updated', ATTESTED + FEW],
  ['/events?type=pet.deleted', 2 * MAX_SEARCHED + ATTESTED + FEW],
  ['/events?petId=7&type=pet.updated', 2 * MAX_SEARCHED + ATTESTED + FEW],
];
export const NAMED_PETS_PAGES = pagesOf('/pets', NAMED_PETS, 45_000, 'common 45000');
export const NAMED_CATEGORIES_PAGES = pagesOf(
  '/categories',
  ['name=common', 'name=nobody'],
  2_000,
  'common 2000',
);
export const SEARCHED_PAGES = pagesOf('/pets', SEARCHES, 45_000, 'common 45000');
/** Pages and single resources of a store with the same rows for everybody. */
export const NEW_STORE_PAGES = [
  '/pets /pets?status=available /pets?status=available&status=pending&status=sold /pets?categoryId=1',
  '/pets?categoryId=1&status=available /pets?name=PET /pets?name=pet&categoryId=1&status=available',
  '/pets?name=pet&id=7&id=200 /pets?name=nobody /categories /categories?name=category /store/inventory',
  '/store/inventory?status=available /store/orders /store/orders?complete=false',
  '/store/orders?petId=1&complete=false /pets/200 /categories/1 /store/orders/200 /store/inventory/200',
].flatMap((line) => line.split(' '));
