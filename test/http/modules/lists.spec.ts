import { SERVICE_CALLER_ID } from '#libs/database';
import { pagesOf } from '../../support/api-caller';
import { type Category, type InventoryItem, type Order, type Pet, aPet } from '../../support/builders';
import { useDatabase } from '../../support/test-database';
import { useStore } from '../../support/use-service';
import { CategoriesService } from '../../../src/modules/categories/categories.service';

const { caller, arrange } = useStore();

/** The expected entries of each list. The store also has deleted and cancelled resources between them, which no list may show. */
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

it.each(Object.keys(whole) as Path[])('GET %s returns all that is left, in order of id', async (path) => {
  const { status, body, headers } = await caller.get<object[]>(path);
  expect([status, body, headers.has('link')]).toEqual([200, whole[path], false]);
});

/** Filters, each with the places of its results in the whole list. */
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
  const database = useDatabase('template0', locale);
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
        expect((await pagesOf<Pet>(store.caller, list)).flat()).toEqual(body);
      }
      const exact = pets.filter((pet) => pet.name === name);
      expect(body).toEqual(expect.arrayContaining(exact));
    }
  });
});

describe('a list', () => {
  const { service, caller, arrange } = useStore();

  /** The names on each page, from this target on. `between` runs after each page. */
  async function pagesFrom(target: string, between?: (page: number) => Promise<unknown>) {
    const pages = await pagesOf<Category>(caller, target, between);
    return pages.map((page) => page.map(({ name }) => name));
  }

  beforeEach(async () => {
    await service.database.pool.query('TRUNCATE categories, pets, inventory, orders RESTART IDENTITY');
  });
  async function categories(...names: string[]): Promise<void> {
    for (const name of names) {
      await arrange.category(name);
    }
  }

  describe('Link', () => {
    test.each([
      ['characters reserved in URLs', 'a?b&c=d#e +%', 'name=a?b%26c%3Dd%23e+%2B%25'],
      ['a line break', 'a\r\nX-Injected: 1', 'name=a%0d%0aX-Injected:'],
      ['characters beyond ASCII', 'é🐕', 'name=%C3%A9%F0%9F%90%95'],
      ['a parameter whose name is escaped', 'dog', 'n%61me=dog'],
    ])('keeps a filter with %s', async (_what, name, query) => {
      await categories(`${name} 1`, 'another', `${name} 2`);
      expect(await pagesFrom(`/categories?limit=1&${query}`)).toEqual([[`${name} 1`], [`${name} 2`]]);
    });

    it('keeps every value of a repeated filter; without a limit all ids that are asked for are on one page', async () => {
      for (const builder of [aPet().sold(), aPet(), aPet().pending(), aPet().sold()]) {
        await arrange.pet(builder);
      }
      const ids = Array.from({ length: 100 }, (_none, index) => `id=${index + 1}`).join('&');
      const target = `/pets?status=sold&status=pending&${ids}`;
      expect(await pagesFrom(`${target}&limit=1`)).toEqual([['Rex'], ['Rex'], ['Rex']]);
      expect(await pagesFrom(target)).toEqual([['Rex', 'Rex', 'Rex']]);
      await service.database.pool.query(
        `INSERT INTO pets (name, category_id, status) SELECT 'Max', 1, 'sold' FROM generate_series(5, 100)`,
      );
      expect((await pagesFrom(target)).map(({ length }) => length)).toEqual([99]);
      expect((await pagesFrom(`/pets?${ids}`)).map(({ length }) => length)).toEqual([100]);
    });
  });

  const [BY_ID, BY_NAME] = ['/categories?limit=2', '/categories?name=n&limit=2'];
  const remove = (id: number) => () => caller.delete(`/categories/${id}`);

  test.each([
    ['a new entry is found once, at the end', BY_ID, () => arrange.category('n0'), '1 2, 3 4, 0'],
    ['deleting the last entry read skips none', BY_ID, remove(2), '1 2, 3 4'],
    ['an entry deleted before it is read is missing', BY_ID, remove(3), '1 2, 4'],
    ['renaming moves no entry', BY_ID, () => caller.put('/categories/1', { name: 'n9' }), '1 2, 3 4'],
    ['a name before what was read is not found', BY_NAME, () => arrange.category('n0'), '1 2, 3 4'],
    ['a name after it is found', BY_NAME, () => arrange.category('n35'), '1 2, 3 35, 4'],
    ['deleting the last entry read skips none by name', BY_NAME, remove(2), '1 2, 3 4'],
    ['deleting the next one skips no other by name', BY_NAME, remove(3), '1 2, 4'],
  ])('between two pages, %s', async (_what, target, change, pages) => {
    await categories('n1', 'n2', 'n3', 'n4');
    const between = (page: number) => (page === 1 ? change() : Promise.resolve());
    const found = await pagesFrom(target, between);
    expect(found.map((names) => names.join(' ').replaceAll('n', '')).join(', ')).toBe(pages);
  });

  it('by name is sorted by lower-case name in the order of code points, then by id, on one page and on many', async () => {
    await categories('n🐕', 'nﬀ', 'na', 'N_', 'NA', 'n', 'nB', 'm', 'o');
    const sorted = ['n', 'N_', 'na', 'NA', 'nB', 'nﬀ', 'n🐕'];
    expect(await pagesFrom('/categories?name=N')).toEqual([sorted]);
    expect((await pagesFrom('/categories?name=N&limit=1')).flat()).toEqual(sorted);
    expect((await pagesFrom('/categories?name=na&limit=1')).flat()).toEqual(['na', 'NA']);
  });

  it('has 20 entries per page by default, and at most 100', async () => {
    await service.database.pool.query(
      `INSERT INTO categories (name) SELECT 'n' || n FROM generate_series(1, 101) AS n`,
    );
    const sizeOf = async (target: string) => (await caller.get<Category[]>(target)).body.length;
    expect(await sizeOf('/categories')).toBe(20);
    expect(await sizeOf('/categories?limit=100')).toBe(100);
  });

  it.each([
    ['characters of four bytes', '/categories?', '🐕'],
    ['characters that JSON escapes', '/categories?', '\u0001'],
    ['quotation marks, by name', '/categories?name=n&', '"'],
  ])('ends a page of %s before 256 KiB, and continues in Link', async (_what, list, text) => {
    await service.database.pool.query(
      `INSERT INTO categories (name, description) SELECT 'n' || n, repeat($1, 2000) FROM generate_series(100, 199) AS n`,
      [text],
    );
    const pages = await pagesFrom(`${list}limit=100`);
    expect(pages.flat()).toEqual(Array.from({ length: 100 }, (_, index) => `n${index + 100}`));
    expect(pages.length).toBeGreaterThan(1);
    const whole = await caller.get(`${list}limit=${pages[0]!.length}`);
    const larger = await caller.get(`${list}limit=${pages[0]!.length + 1}`);
    expect(larger.text).toBe(whole.text);
    expect(Buffer.byteLength(whole.text)).toBeLessThanOrEqual(256 * 1024);
    expect(Buffer.byteLength(whole.text)).toBeGreaterThan(240 * 1024);
  });

  it('is read, and so serialised, once for all who wait for it', async () => {
    const categories = service.app.get(CategoriesService);
    const pages = await Promise.all(
      Array.from({ length: 60 }, () => categories.list({ limit: 100 }, SERVICE_CALLER_ID)),
    );
    // The first request may be read alone, because it need not wait for others if the previous read was alone, too.
    expect(new Set(pages).size).toBeLessThanOrEqual(2);
  });
});
