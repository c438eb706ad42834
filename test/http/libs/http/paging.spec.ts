import { type Answer, nextOf } from '../../../support/api-client';
import { type Category, type Pet, aPet } from '../../../support/builders';
import { useStore } from '../../../support/use-service';

const { service, caller, arrange } = useStore();

describe('a list', () => {
  /** Names on each page, from this target on. `between` runs after each page. */
  async function pagesFrom(
    target: string,
    between?: (page: number) => Promise<unknown>,
  ): Promise<string[][]> {
    const pages: string[][] = [];
    for (let next: string | undefined = target; next !== undefined; ) {
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

  describe('Link', () => {
    // Whether a page is the last one is decided in a function of its own, whose test has more cases.
    test.each([
      [0, [[]]],
      [2, [['n1', 'n2']]],
      [3, [['n1', 'n2'], ['n3']]],
    ])('is present exactly when more entries follow: %i entries, two on a page', async (count, pages) => {
      await categories(...Array.from({ length: count }, (_, index) => `n${index + 1}`));
      expect(await pagesFrom('/categories?limit=2')).toEqual(pages);
    });

    it('considers only entries that match the filter', async () => {
      await categories('cat', 'dog', 'cattle', 'door');
      expect(await pagesFrom('/categories?limit=2&name=cat')).toEqual([['cat', 'cattle']]);
    });

    test.each([
      ['characters reserved in URLs', 'a?b&c=d#e', 'name=a%3Fb%26c%3Dd%23e'],
      ['a literal question mark', 'a?b', 'name=a?b'],
      ['a space and a plus', 'a +', 'name=a+%2B'],
      ['a percent sign', '50%', 'name=50%25'],
      ['a line break', 'a\r\nX-Injected: 1', 'name=a%0d%0aX-Injected:'],
      ['characters beyond ASCII', 'é🐕', 'name=%C3%A9%F0%9F%90%95'],
      ['a parameter whose name is escaped', 'dog', 'n%61me=dog'],
    ])('keeps a filter with %s', async (_what, name, query) => {
      await categories(`${name} 1`, 'another', `${name} 2`);
      expect(await pagesFrom(`/categories?limit=1&${query}`)).toEqual([[`${name} 1`], [`${name} 2`]]);
    });

    it('keeps every value of a repeated filter', async () => {
      const pets: Pet[] = [];
      for (const builder of [aPet().sold(), aPet(), aPet().pending(), aPet().sold()]) {
        pets.push(await arrange.pet(builder));
      }
      const ids = pets.map(({ id }) => `id=${id}`).join('&');
      const target = `/pets?limit=1&status=sold&status=pending&${ids}`;
      expect(await pagesFrom(target)).toEqual([['Rex'], ['Rex'], ['Rex']]);
    });
  });

  describe('between two pages', () => {
    const BOTH = [
      ['a', 'b'],
      ['c', 'd'],
    ];
    beforeEach(() => categories('a', 'b', 'c', 'd'));

    test.each([
      ['a new entry is found once, at the end', () => arrange.category('e'), [['a', 'b'], ['c', 'd'], ['e']]],
      ['deleting an entry already read skips none', () => caller.delete('/categories/1'), BOTH],
      ['deleting the last entry read skips none', () => caller.delete('/categories/2'), BOTH],
      [
        'an entry deleted before it is read is missing',
        () => caller.delete('/categories/3'),
        [['a', 'b'], ['d']],
      ],
      ['renaming an entry moves none', () => caller.put('/categories/1', { name: 'z' }), BOTH],
    ])('%s', async (_what, change, pages) => {
      const between = (page: number) => (page === 1 ? change() : Promise.resolve());
      expect(await pagesFrom('/categories?limit=2', between)).toEqual(pages);
    });

    it('the next page may turn out empty, and is then the last', async () => {
      const empty = async (page: number) => {
        if (page === 1) await Promise.all([caller.delete('/categories/3'), caller.delete('/categories/4')]);
      };
      expect(await pagesFrom('/categories?limit=2', empty)).toEqual([['a', 'b'], []]);
    });
  });

  it('has 20 entries per page by default, and at most 100', async () => {
    await service.database.pool.query(
      `INSERT INTO categories (name) SELECT 'n' || n FROM generate_series(1, 101) AS n`,
    );
    const sizeOf = async (target: string) => (await caller.get<Category[]>(target)).body.length;
    expect(await sizeOf('/categories')).toBe(20);
    expect(await sizeOf('/categories?limit=100')).toBe(100);
  });

  it('ends a page early that would grow past 256 KiB, and continues in Link', async () => {
    await service.database.pool.query(
      `INSERT INTO categories (name, description) SELECT 'n' || n, repeat('🐕', 2000) FROM generate_series(1, 70) AS n`,
    );
    const pages = await pagesFrom('/categories?limit=100');
    expect(pages.flat()).toEqual(Array.from({ length: 70 }, (_, index) => `n${index + 1}`));
    expect(pages.length).toBeGreaterThan(2);
    const whole = await caller.get(`/categories?limit=${pages[0]!.length}`);
    const larger = await caller.get(`/categories?limit=${pages[0]!.length + 1}`);
    expect(larger.text).toBe(whole.text);
    expect(Buffer.byteLength(whole.text)).toBeLessThanOrEqual(256 * 1024);
    expect(Buffer.byteLength(whole.text)).toBeGreaterThan(240 * 1024);
  });
});
