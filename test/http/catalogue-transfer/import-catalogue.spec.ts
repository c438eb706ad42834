import { CatalogueRefusedError } from '../../../src/modules/catalogue';
import { TransferBench, aCategoryLine, aPetLine } from './support/transfers';
import { until } from '../../support/eventually';

let store: TransferBench;

beforeAll(async () => (store = await TransferBench.open()));
afterAll(() => store.close());
beforeEach(() => store.database.pool.query(`TRUNCATE categories, pets, inventory CASCADE`));

/** What the test imported: the names of categories, and each pet with the name of its category. */
async function entered(): Promise<{ categories: unknown[]; pets: unknown[] }> {
  const lines = await store.export();
  const categories = lines.filter(({ kind }) => kind === 'category');
  const nameOf = new Map(categories.map(({ id, name }) => [id, name]));
  const pets = lines.filter(({ kind }) => kind === 'pet');
  return {
    categories: [...nameOf.values()],
    pets: pets.map(({ name, categoryId, status, quantity }) => [
      name,
      nameOf.get(categoryId),
      status,
      quantity,
    ]),
  };
}

/** The problems for which lines are refused, with their numbers, and that nothing was imported. */
async function refused(lines: unknown[], options = {}): Promise<[number, string][]> {
  const before = await store.counts();
  const error: unknown = await store.import(lines, options).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(CatalogueRefusedError);
  expect(await store.counts()).toEqual(before);
  return (error as CatalogueRefusedError).badLines.first.map(({ line, problem }) => [line, problem]);
}

describe('an import', () => {
  it('creates categories and pets with their stock, in file order', async () => {
    const lines = [
      aCategoryLine(70, 'Dogs'),
      aPetLine('Rex', 70),
      aPetLine('Ada', 70, { status: 'sold' }),
      aCategoryLine(3, 'Cats'),
      aPetLine('Tom', 3, { id: 1, status: 'pending', quantity: 5 }),
    ];
    expect(await store.import(lines)).toEqual({ categories: 2, pets: 3, skipped: 0 });
    expect(await entered()).toEqual({
      categories: ['Dogs', 'Cats'],
      pets: [
        ['Rex', 'Dogs', 'available', 1],
        ['Ada', 'Dogs', 'sold', 0],
        ['Tom', 'Cats', 'pending', 5],
      ],
    });
  });

  it('writes one audit entry, and none when it is rejected', async () => {
    const audited = `SELECT actor, details FROM audit_entries WHERE action = 'catalogue.imported'`;
    const before = (await store.database.pool.query(audited)).rowCount;
    await store.import([aCategoryLine(1, 'Dogs'), 'not JSON', aPetLine('Rex', 1)], { skipInvalid: true });
    await refused([aPetLine('Rex', 9)]);
    const { rows } = await store.database.pool.query(audited);
    expect(rows.slice(before!)).toEqual([
      { actor: 'ann@shop', details: { categories: 1, pets: 1, linesLeftOut: 1 } },
    ]);
  });

  it('finds the category of a pet even when it follows the pet in the file', async () => {
    await store.import([aPetLine('Rex', 2), aCategoryLine(1, 'Cats'), aCategoryLine(2, 'Dogs')]);
    expect((await entered()).pets).toEqual([['Rex', 'Dogs', 'available', 1]]);
  });

  it('uses the ids of a file only as references: importing a file twice doubles the catalogue', async () => {
    const lines = [aCategoryLine(1, 'Dogs'), aPetLine('Rex', 1, { id: 1 })];
    await store.import(lines);
    await store.import(lines);
    const rex = ['Rex', 'Dogs', 'available', 1];
    expect(await entered()).toEqual({ categories: ['Dogs', 'Dogs'], pets: [rex, rex] });
  });

  it('accepts an empty file', async () => {
    expect(await store.import([])).toEqual({ categories: 0, pets: 0, skipped: 0 });
  });

  it('rejects the whole file for a few bad lines, and reports them in file order', async () => {
    const lines = [
      aPetLine('Stray', 9),
      aCategoryLine(1),
      '{"kind":"pet"',
      aCategoryLine(1),
      aPetLine(' ', 1),
      '',
      aPetLine('x'.repeat(70_000), 1),
      aPetLine('Rex', 1),
    ];
    expect(await refused(lines)).toEqual([
      [1, 'categoryId 9 is not the id of a category of this file.'],
      [3, expect.stringMatching(/^must be a JSON object/)],
      [4, 'id 1 is already the id of the category on line 2.'],
      [5, expect.stringMatching(/^name must be/)],
      [7, 'must be at most 65536 bytes long.'],
    ]);
  });

  it('leaves no trace when it is rejected: an empty store still counts as unused', async () => {
    const empty = await TransferBench.open();
    await expect(empty.import([aCategoryLine(1), 'nope'])).rejects.toBeInstanceOf(CatalogueRefusedError);
    const { rows } = await empty.database.pool.query(
      `SELECT categories.is_called OR pets.is_called AS used FROM categories_id_seq categories, pets_id_seq pets`,
    );
    expect(rows).toEqual([{ used: false }]);
    await empty.close();
  });

  it('skips bad lines with skipInvalid, and the pets of a skipped category', async () => {
    const lines = [
      aCategoryLine(1, 'Dogs'),
      aCategoryLine(1, 'Cats'),
      aCategoryLine(2, ''),
      aPetLine('Rex', 1),
      aPetLine('Tom', 2),
      'nope',
    ];
    expect(await store.import(lines, { skipInvalid: true })).toEqual({ categories: 1, pets: 1, skipped: 4 });
    expect(await entered()).toEqual({ categories: ['Dogs'], pets: [['Rex', 'Dogs', 'available', 1]] });
  });

  it('writes nothing when it is aborted', async () => {
    const controller = new AbortController();
    const source = (async function* () {
      yield Buffer.from(`${JSON.stringify(aCategoryLine(1))}\n`);
      await Promise.resolve();
      controller.abort(new Error('stop'));
      yield Buffer.from(JSON.stringify(aPetLine('Rex', 1)));
    })();
    const before = await store.counts();
    await expect(store.importing().run(source, { signal: controller.signal })).rejects.toThrow('stop');
    expect(await store.counts()).toEqual(before);
  });
});

describe('an import into existing categories', () => {
  let dogs: number;
  beforeEach(async () => {
    await store.import([aCategoryLine(1, 'Dogs')]);
    dogs = (await store.export())[0]!.id as number;
  });

  const into = { intoExisting: true };

  it('matches categories by the ids of the store', async () => {
    expect(await store.import([aPetLine('Rex', dogs)], into)).toEqual({ categories: 0, pets: 1, skipped: 0 });
    expect(await store.export()).toMatchObject([{ name: 'Dogs' }, { name: 'Rex', categoryId: dogs }]);
  });

  it('rejects categories, and pets of unknown ones', async () => {
    const lines = [aPetLine('Rex', dogs), aCategoryLine(dogs), aPetLine('Stray', dogs + 1)];
    expect(await refused(lines, into)).toEqual([
      [2, expect.stringMatching(/^kind must be pet/)],
      [3, `categoryId ${dogs + 1} is not the id of a category of the store.`],
    ]);
    const skipping = { ...into, skipInvalid: true };
    expect(await store.import(lines, skipping)).toEqual({ categories: 0, pets: 1, skipped: 2 });
  });

  it('waits while a category is being deleted, then rejects its pets', async () => {
    const { pool } = store.database;
    const { rows } = await pool.query<{ id: string }>(
      `INSERT INTO categories (name) VALUES ('Cats') RETURNING id`,
    );
    const cats = Number(rows[0]!.id);
    const deleting = await pool.connect();
    await deleting.query(`BEGIN`);
    await deleting.query(`DELETE FROM categories WHERE id = $1`, [cats]);
    const outcome = store.import([aPetLine('Tom', cats)], into).catch((reason: unknown) => reason);
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await until(async () => (await pool.query(waiting)).rowCount === 1);
    await deleting.query(`COMMIT`);
    deleting.release();
    expect(await outcome).toMatchObject({ badLines: { first: [{ line: 1 }] } });
  });
});
