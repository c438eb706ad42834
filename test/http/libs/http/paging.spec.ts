import { CategoriesService } from '../../../../src/modules/categories/categories.service';
import { type Answer, nextOf } from '../../../support/api-caller';
import { type Category, aPet } from '../../../support/builders';
import { useStore } from '../../../support/use-service';

const { service, caller, arrange } = useStore();

describe('a list', () => {
  /** Names on each page, from this target on. `between` runs after each page. */
  async function pagesFrom(
    target: string,
    between?: (page: number) => Promise<unknown>,
  ): Promise<string[][]> {
    const pages: string[][] = [];
    for (let next: string | undefined = target; next !== undefined;) {
      const answer: Answer<Category[]> = await caller.get<Category[]>(next);
      pages.push(answer.body.map(({ name }) => name));
      await between?.(pages.length);
      next = nextOf(answer);
    }
    return pages;
  }

  beforeEach(async () => {
    await service.database.pool.query('TRUNCATE categories, pets, inventory, orders RESTART IDENTITY');
  });
  async function categories(...names: string[]): Promise<void> {
    for (const name of names) {
      await arrange.category(name);
    }
  }

  /** More than fit on a page. */
  async function fillWithLong(character: string): Promise<void> {
    await service.database.pool.query(
      `INSERT INTO categories (name, description) SELECT 'n' || n, repeat($1, 2000) FROM generate_series(100, 199) AS n`,
      [character],
    );
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
  ])(
    'ends a page of %s early that would grow past 256 KiB, and continues in Link',
    async (_what, list, text) => {
      await fillWithLong(text);
      const pages = await pagesFrom(`${list}limit=100`);
      expect(pages.flat()).toEqual(Array.from({ length: 100 }, (_, index) => `n${index + 100}`));
      expect(pages.length).toBeGreaterThan(1);
      const whole = await caller.get(`${list}limit=${pages[0]!.length}`);
      const larger = await caller.get(`${list}limit=${pages[0]!.length + 1}`);
      expect(larger.text).toBe(whole.text);
      expect(Buffer.byteLength(whole.text)).toBeLessThanOrEqual(256 * 1024);
      expect(Buffer.byteLength(whole.text)).toBeGreaterThan(240 * 1024);
    },
  );

  it('is read, and so serialised, once for all who wait for it', async () => {
    const categories = service.app.get(CategoriesService);
    const pages = await Promise.all(Array.from({ length: 60 }, () => categories.list({ limit: 100 })));
    // The first one may be read alone: it waits for nobody if the read before it was alone, too.
    expect(new Set(pages).size).toBeLessThanOrEqual(2);
  });
});
