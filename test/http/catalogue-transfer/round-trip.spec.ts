import { Arrange, type InventoryItem, aPet } from '../../support/builders';
import { type TestService, startService } from '../../support/service';
import { TransferBench, aCategoryLine, aPetLine } from './support/transfers';

let from: TransferBench;
let to: TransferBench;

beforeAll(async () => {
  [from, to] = await Promise.all([TransferBench.open(), TransferBench.open()]);
});
afterAll(() => Promise.all([from.close(), to.close()]));

const EMPTY = 'TRUNCATE categories, pets, inventory CASCADE';
const STRANGE = [
  'tab\there',
  'line\nfeed\r',
  'back\\slash \\N \\.',
  '"quotes"',
  '\u0001\u007f\u2028',
  'ä 😀 \ufeff',
];

describe('an export', () => {
  it('imported into another store is identical there, except for the ids', async () => {
    await from.import([
      ...STRANGE.map((name, index) => ({
        ...aCategoryLine(index + 1, name),
        description: index % 2 ? '' : name,
      })),
      aCategoryLine(50),
      ...STRANGE.map((name, index) => aPetLine(name, index + 1, { quantity: index })),
      // More than are read and written at once.
      ...Array.from({ length: 2_500 }, (_none, n) =>
        aPetLine(`Pet ${n}`, 50, { status: 'sold', quantity: n % 3 }),
      ),
    ]);
    const exported = await from.export();
    expect(exported).toHaveLength(STRANGE.length * 2 + 1 + 2_500);
    expect(exported[0]).toEqual({ kind: 'category', id: 1, name: STRANGE[0], description: STRANGE[0] });
    expect(exported[STRANGE.length]).toEqual({ kind: 'category', id: 7, name: 'Category 50' });
    expect(exported[STRANGE.length + 1]).toEqual({
      kind: 'pet',
      id: 1,
      name: STRANGE[0],
      categoryId: 1,
      status: 'available',
      quantity: 0,
    });
    // So that the ids there are others.
    await to.database.pool.query(EMPTY);
    await to.database.pool.query(`SELECT setval('categories_id_seq', 1000), setval('pets_id_seq', 5000)`);
    await to.import(exported);
    const moved = exported.map(({ id, categoryId, ...rest }) => ({
      ...rest,
      id: (id as number) + (rest.kind === 'pet' ? 5_000 : 1_000),
      ...(categoryId === undefined ? {} : { categoryId: (categoryId as number) + 1_000 }),
    }));
    expect(await to.export()).toEqual(moved);
  });

  it('is a snapshot, regardless of concurrent writes', async () => {
    const from = await TransferBench.open();
    await from.import([aCategoryLine(60), aPetLine('Rex', 60, { quantity: 1 })]);
    const before = await from.export();
    const { pool } = from.database;
    const meanwhile = () => pool.query(`UPDATE inventory SET quantity = quantity + 1`);
    expect(await from.export(meanwhile)).toEqual(before);
    expect(await from.export()).not.toEqual(before);
    await from.close();
  });
});

describe('an imported pet', () => {
  let service: TestService;
  beforeAll(async () => {
    await to.database.pool.query(EMPTY);
    await to.import([aCategoryLine(1, 'Dogs'), aPetLine('Rex', 1, { quantity: 1 })]);
    service = await startService({ database: to.database });
  });
  afterAll(() => service.close());

  it('can be ordered like any other pet, and deleted pets are not exported', async () => {
    const caller = await service.caller();
    const [rex] = (await caller.get<{ id: number }[]>('/pets?name=Rex')).body;
    const order = await new Arrange(caller).order(rex!.id, { complete: true });
    expect(order.quantity).toBe(1);
    const { body: stock } = await caller.get<InventoryItem>(`/store/inventory/${rex!.id}`);
    expect(stock).toEqual({ petId: rex!.id, quantity: 0, status: 'sold' });
    const gone = await new Arrange(caller).pet(aPet().named('Gone'));
    expect((await caller.delete(`/pets/${gone.id}`)).status).toBe(204);
    const pets = (await to.export()).filter(({ kind }) => kind === 'pet');
    expect(pets).toMatchObject([{ id: rex!.id, name: 'Rex', status: 'sold', quantity: 0 }]);
  });
});
