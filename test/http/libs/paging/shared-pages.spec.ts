import { Database, type SharedRead } from '#libs/database';
import { KeysService } from '../../../../src/modules/auth';
import { PetsService } from '../../../../src/modules/pets/pets.service';
import type { ListPetsQuery } from '../../../../src/modules/pets/pets.dto';
import { aPet } from '../../../support/builders';
import { useStore } from '../../../support/use-service';
import { RecordedStatements } from '../../database/support/recorded-statements';

describe('pages that are requested together', () => {
  const { service, caller, arrange } = useStore();
  let statements: RecordedStatements;

  beforeAll(() => (statements = new RecordedStatements()));
  afterAll(() => statements.stop());

  it('share statements if they have the same filters, and each has its own entries', async () => {
    const pets = service.app.get(PetsService);
    const categories = [(await arrange.category('first')).id, (await arrange.category('second')).id];
    for (let index = 0; index < 12; index += 1) {
      await caller.post(
        '/pets',
        aPet()
          .inCategory(categories[index % 2]!)
          .build(),
      );
    }
    const queries = Array.from(
      { length: 30 },
      (_none, index): ListPetsQuery => ({
        limit: 1 + (index % 7),
        categoryId: categories[index % 2]!,
        status: index % 3 === 0 ? ['sold'] : ['available'],
      }),
    );
    const alone = [];
    for (const query of queries) {
      alone.push(await pets.list(query));
    }
    let together: unknown;
    const sent = await statements.during(async () => {
      together = await Promise.all(queries.map((query) => pets.list(query)));
    });
    expect(together).toEqual(alone);
    expect(new Set(alone.map(({ entries }) => entries.length))).toEqual(new Set([0, 1, 2, 3, 4, 5, 6]));
    const pages = sent.filter(({ text }) => text.includes('FROM pets'));
    // The first may be sent alone; a statement reads 20 pages at most.
    expect(pages.length).toBeLessThanOrEqual(3);
    expect(new Set(pages.map(({ text }) => text)).size).toBe(1);
  });

  it.each([
    ['/pets?status=available', 'FROM pets'],
    ['/pets?name=rex', 'FROM pets'],
    ['/categories', 'FROM categories'],
    ['/store/inventory', 'FROM inventory_items'],
    ['/store/orders', 'FROM orders'],
  ])('GET %s takes the turn of its client', async (target, table) => {
    const { key, keyId } = await service.issueKey();
    const { client } = await service.app.get(KeysService).byId(keyId);
    const share = jest.spyOn(Database.prototype, 'share');
    await service.anonymous().with({ 'X-API-Key': key }).get(target);
    const reads = share.mock.calls.map(([read, page, caller]) => ({
      text: (read as SharedRead<unknown, unknown>).statementFor([page]).text,
      caller,
    }));
    share.mockRestore();
    expect(reads.filter(({ text }) => text.includes(table)).map(({ caller: of }) => of)).toEqual([client.id]);
  });
});
