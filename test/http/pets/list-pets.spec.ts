import { type Pet, aPet } from '../../support/builders';
import { useStore } from '../../support/use-service';

const { caller, arrange } = useStore();

describe('GET /pets', () => {
  let categories: number[];
  const namesOf = async (query: string) =>
    (await caller.get<Pet[]>(`/pets?${query}`)).body.map(({ name }) => name);

  beforeAll(async () => {
    categories = [(await arrange.category('Dogs')).id, (await arrange.category('Cats')).id];
    const [dogs, cats] = categories as [number, number];
    for (const builder of [
      aPet().named('Rex').inCategory(dogs),
      aPet().named('rexona').inCategory(dogs).pending(),
      aPet().named('REX II').inCategory(cats).sold(),
      aPet().named('100%').inCategory(cats),
      aPet().named('100 percent').inCategory(cats),
      aPet().named('a_b').inCategory(dogs).sold(),
      aPet().named('aXb').inCategory(dogs),
      aPet().named('c\\d').inCategory(dogs),
      aPet().named('Zoë Ärmel').inCategory(dogs),
    ]) {
      await caller.post('/pets', builder.build());
    }
  });
  describe('200', () => {
    it('returns a bare array of whole pets in ascending order of id', async () => {
      const { body } = await caller.get<Pet[]>('/pets');
      expect(body[0]).toEqual({ id: 1, name: 'Rex', categoryId: categories[0], status: 'available' });
      expect(body.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    });

    test.each([
      ['one status', 'status=pending', ['rexona']],
      ['one of several statuses', 'status=pending&status=sold', ['rexona', 'REX II', 'a_b']],
      ['the same status twice', 'status=sold&status=sold', ['REX II', 'a_b']],
      ['a name, ignoring case', 'name=rEx', ['Rex', 'rexona', 'REX II']],
      ['a name, ignoring case beyond ASCII', 'name=ZO%C3%8B%20%C3%A4', ['Zoë Ärmel']],
      ['a name with a space', 'name=rex+i', ['REX II']],
      ['a literal percent sign', 'name=100%25', ['100%']],
      ['a literal underscore', 'name=A_', ['a_b']],
      ['a literal backslash', 'name=c%5C', ['c\\d']],
      ['the whole name, not a prefix', 'name=ona', []],
      ['a name that no pet has', 'name=%25', []],
      ['a category that does not exist', 'categoryId=4711', []],
      ['one id', 'id=3', ['REX II']],
      ['several ids, in ascending order', 'id=3&id=1&id=4711', ['Rex', 'REX II']],
      ['the same id twice', 'id=1&id=1', ['Rex']],
      ['all filters together', 'id=1&id=2&id=3&name=rex&status=sold&status=available', ['Rex', 'REX II']],
      ['filters that exclude each other', 'id=1&status=sold', []],
    ])('filters by %s', async (_what, query, names) => {
      expect(await namesOf(query)).toEqual(names);
    });

    it('filters by category', async () => {
      expect(await namesOf(`categoryId=${categories[1]}`)).toEqual(['REX II', '100%', '100 percent']);
    });

    it('accepts 100 ids', async () => {
      const ids = Array.from({ length: 100 }, (_, index) => Number.MAX_SAFE_INTEGER - index);
      expect(await namesOf(['id=1', ...ids.slice(1).map((id) => `id=${id}`)].join('&'))).toEqual(['Rex']);
    });
  });

  it('returns all that were asked for by id, unless a limit is given', async () => {
    const created = await Promise.all(
      Array.from({ length: 25 }, () => caller.post<Pet>('/pets', aPet().inCategory(categories[0]!).build())),
    );
    const ids = created.map(({ body }) => body.id).sort((a, b) => a - b);
    const query = ids.map((id) => `id=${id}`).join('&');
    for (const filter of ['', '&status=available&status=pending&status=sold']) {
      const { body, headers } = await caller.get<Pet[]>(`/pets?${query}${filter}`);
      expect(body.map(({ id }) => id)).toEqual(ids);
      expect(headers.get('Link')).toBeNull();
      const limited = await caller.get<Pet[]>(`/pets?${query}${filter}&limit=3`);
      expect(limited.body.map(({ id }) => id)).toEqual(ids.slice(0, 3));
    }
    await Promise.all(ids.map((id) => caller.delete(`/pets/${id}`)));
  });
});
