import { Arrange, type Category } from '../../support/builders';
import { useStore } from '../../support/use-service';

const NAMES = [
  'Dogs',
  'dogfish',
  'DOGE',
  'Cats',
  '100% wool',
  '100 sheep',
  'a_b',
  'aXb',
  'c\\d',
  'Écureuil',
  'a?b&c=d',
];

describe('GET /categories', () => {
  const { caller } = useStore();
  const namesOf = async (target: string) =>
    (await caller.get<Category[]>(target)).body.map(({ name }) => name);

  beforeAll(async () => {
    for (const name of NAMES) {
      await new Arrange(caller).category(name);
    }
  });
  it('200: returns every category in ascending order of id', async () => {
    const { body } = await caller.get<Category[]>('/categories');
    expect(body.map(({ name }) => name)).toEqual(NAMES);
    const ids = body.map(({ id }) => id);
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
  });

  test.each([
    ['ignoring case', 'dOg', ['Dogs', 'dogfish', 'DOGE']],
    ['ignoring case beyond ASCII', 'éCU', ['Écureuil']],
    ['a literal percent sign', '100%', ['100% wool']],
    ['a literal underscore', 'a_', ['a_b']],
    ['a literal backslash', 'c\\', ['c\\d']],
    ['only a percent sign', '%', []],
    ['not the middle of a name', 'ogs', []],
    ['white space', ' ', []],
    ['characters reserved in URLs', 'a?b&c=', ['a?b&c=d']],
    ['a quote', "'", []],
  ])('200: filters names by prefix: %s', async (_what, prefix, names) => {
    expect(await namesOf(`/categories?name=${encodeURIComponent(prefix)}`)).toEqual(names);
  });
});
