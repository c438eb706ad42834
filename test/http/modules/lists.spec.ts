import { type Answer, type ApiCaller, nextOf } from '../../support/api-caller';
import { type Category, type InventoryItem, type Order, type Pet, aPet } from '../../support/builders';
import { type TestDatabase, createTestDatabase } from '../../support/test-database';
import { useStore } from '../../support/use-service';

const { caller, arrange } = useStore();

/** The lists as they are read; what was deleted or cancelled stands in between and must not show. */
const whole = {
  '/categories': [] as Category[],
  '/pets': [] as Pet[],
  '/store/inventory': [] as InventoryItem[],
  '/store/orders': [] as Order[],
};
const CATEGORIES = ['Dogs', 'Cats', '100% wool', '100 sheep', 'a_b', 'aXb', 'c\\d', 'Écureuil'];

beforeAll(async () => {
  for (const name of CATEGORIES) {
    whole['/categories'].push(await arrange.category(name));
  }
  const [dogs, cats] = whole['/categories'].map(({ id }) => id) as [number, number];
  const created: Pet[] = [];
  for (const builder of [
    aPet().named('Rex').inCategory(dogs),
    aPet().named('rexona').inCategory(dogs).pending(),
    aPet().named('Rexgone').inCategory(cats),
    aPet().named('REX II').inCategory(cats).sold(),
    aPet().named('Zoë Ärmel').inCategory(cats),
  ]) {
    created.push((await caller.post<Pet>('/pets', builder.build())).body);
  }
  const [rex, rexona, gone, rex2, zoe] = created as [Pet, Pet, Pet, Pet, Pet];
  await caller.put(`/store/inventory/${zoe.id}`, { quantity: 7 });
  const cancelled = await arrange.order(zoe.id);
  whole['/store/orders'].push(
    await arrange.order(zoe.id, { quantity: 2 }),
    await arrange.order(zoe.id, { complete: true, shipDate: '2026-12-01T00:00:00.000Z' }),
    await arrange.order(rex.id),
    await arrange.order(gone.id, { complete: true }),
  );
  await caller.delete(`/store/orders/${cancelled.id}`);
  await caller.delete(`/pets/${gone.id}`);
  whole['/pets'].push({ ...rex, status: 'pending' }, rexona, rex2, zoe);
  whole['/store/inventory'].push(
    { petId: rex.id, quantity: 0, status: 'pending' },
    { petId: rexona.id, quantity: 1, status: 'pending' },
    { petId: rex2.id, quantity: 0, status: 'sold' },
    { petId: zoe.id, quantity: 4, status: 'available' },
  );
});

type Path = keyof typeof whole;

it.each<Path>(['/categories', '/pets', '/store/inventory', '/store/orders'])(
  'GET %s returns whole entries in ascending order of id, without deleted ones and without a next page',
  async (path) => {
    const { status, body, headers } = await caller.get<object[]>(path);
    expect([status, body, headers.has('link')]).toEqual([200, whole[path], false]);
  },
);

/** The pages of a list. */
async function readAll<Entry>(reader: ApiCaller, target: string): Promise<Entry[][]> {
  const pages: Entry[][] = [];
  for (let next: string | undefined = target; next !== undefined;) {
    const answer: Answer<Entry[]> = await reader.get<Entry[]>(next);
    pages.push(answer.body);
    next = nextOf(answer);
  }
  return pages;
}

/** Each filter, with the places in the whole list of what it lets through. */
const FILTERS: [path: Path, query: string, places: number[]][] = [
  ['/categories', 'name=DOG', [0]],
  ['/categories', 'name=100%25', [2]],
  ['/categories', 'name=a_', [4]],
  ['/categories', 'name=c%5C', [6]],
  ['/categories', 'name=%C3%A9CU', [7]],
  ['/categories', 'name=%25', []],
  ['/pets', 'status=pending', [0, 1]],
  ['/pets', 'status=pending&status=sold', [0, 1, 2]],
  ['/pets', 'categoryId=2', [2, 3]],
  ['/pets', 'categoryId=4711', []],
  ['/pets', 'name=rEx', [0, 2, 1]],
  ['/pets', 'name=rex+i', [2]],
  ['/pets', 'name=ZO%C3%8B%20%C3%A4', [3]],
  ['/pets', 'id=5&id=1&id=4711&id=1', [0, 3]],
  ['/pets', 'id=1&id=2&id=4&id=3&id=5&name=REX', [0, 2, 1]],
  ['/pets', 'id=1&id=4&id=5&name=rex&status=sold&status=available', [2]],
  ['/pets', 'id=1&status=sold', []],
  ['/pets', 'categoryId=2&status=sold&status=available', [2, 3]],
  ['/pets', 'categoryId=1&name=rex', [0, 1]],
  ['/pets', 'name=rex&status=pending&status=sold', [0, 2, 1]],
  ['/pets', 'id=1&id=5&categoryId=2&name=z', [3]],
  ['/store/inventory', 'status=available', [3]],
  ['/store/inventory', 'status=sold&status=pending', [0, 1, 2]],
  ['/store/orders', 'petId=5', [0, 1]],
  ['/store/orders', 'complete=false', [0, 2]],
  ['/store/orders', 'complete=true', [1, 3]],
  ['/store/orders', 'petId=5&complete=true', [1]],
  ['/store/orders', 'petId=9007199254740991', []],
];

it.concurrent.each(FILTERS)('GET %s?%s returns the entries %j', async (path, query, places) => {
  const { body } = await caller.get<object[]>(`${path}?${query}`);
  expect(body).toEqual(places.map((place) => whole[path][place]));
});

describe.each([
  ['C', `LOCALE_PROVIDER libc LOCALE 'C'`],
  ['Turkish, by ICU', `LOCALE_PROVIDER icu ICU_LOCALE 'tr' LOCALE 'C'`],
])('GET /pets?name= in a database with the characters %s', (_characters, locale) => {
  const database = {} as TestDatabase;
  beforeAll(async () => {
    Object.assign(database, await createTestDatabase('template0', locale));
  });
  afterAll(() => database.drop());
  const store = useStore(() => ({ database }));

  it('finds the same pets with and without their ids, page by page and on one page', async () => {
    const names = 'Istanbul ISTANBUL ıssız İzmir ÄRMEL ärmel ΟΔΟΣ Οδός Straße \u212Alee'.split(' ');
    const pets: Pet[] = [];
    for (const name of names) {
      pets.push(await store.arrange.pet(aPet().named(name)));
    }
    const ids = pets.map(({ id }) => `id=${id}`).join('&');
    const asked = names.flatMap((one) => [one, one[0]!, one.toLowerCase(), one.toUpperCase()]);
    for (const name of new Set(asked)) {
      const target = `/pets?name=${encodeURIComponent(name)}`;
      const { body } = await store.caller.get<Pet[]>(target);
      expect((await store.caller.get<Pet[]>(`${target}&${ids}`)).body).toEqual(body);
      for (const list of [`${target}&limit=1`, `${target}&limit=1&${ids}`]) {
        expect((await readAll<Pet>(store.caller, list)).flat()).toEqual(body);
      }
      const exact = pets.filter((pet) => pet.name === name);
      expect(body).toEqual(expect.arrayContaining(exact));
    }
  });
});
