import { aPet } from '../../../support/builders';
import { useStore } from '../../../support/use-service';

const CONNECTIONS = 3;
const { service, caller, arrange } = useStore({ settings: { databasePool: CONNECTIONS } });

let petId: number;
let keys = 0;

beforeAll(async () => {
  ({ id: petId } = await arrange.pet(aPet(), 1_000));
});

/** Enough at once that every connection prepares the statements of an order, and some read meanwhile. */
async function answersToReadsAndOrders(): Promise<Set<number>> {
  const orders = Array.from({ length: 4 * CONNECTIONS }, (_, index) => {
    const headers: Record<string, string> =
      index % 2 === 0 ? {} : { 'Idempotency-Key': `key-${(keys += 1)}` };
    return caller.with(headers).post('/store/orders', { petId });
  });
  const lists = ['/pets', '/categories', '/store/orders', '/store/inventory'];
  const reads = [`/pets/${petId}`, ...lists].map((target) => caller.get(target));
  const answers = await Promise.all([...orders, ...reads]);
  return new Set(answers.map(({ status }) => status));
}

/** As a migration does that another instance, of a newer release, has started with. */
function changeTypes(text: string, integer: string): Promise<unknown> {
  return service.database.pool.query(`
    BEGIN;
    DROP VIEW inventory_items;
    ALTER TABLE categories ALTER COLUMN name TYPE ${text};
    ALTER TABLE pets ALTER COLUMN name TYPE ${text}, ALTER COLUMN status TYPE ${text};
    ALTER TABLE inventory ALTER COLUMN quantity TYPE ${integer};
    ALTER TABLE orders ALTER COLUMN quantity TYPE ${integer};
    CREATE VIEW inventory_items AS
      SELECT inventory.pet_id, inventory.quantity, pets.status
      FROM inventory JOIN pets ON pets.id = inventory.pet_id WHERE pets.deleted_at IS NULL;
    COMMIT`);
}

describe('when column types change while the service runs', () => {
  it.each([
    ['changed', 'varchar(250)', 'smallint'],
    ['changed back', 'text', 'integer'],
  ])('reads and orders continue without a failure: %s', async (_, text, integer) => {
    await answersToReadsAndOrders();
    await changeTypes(text, integer);
    expect(await answersToReadsAndOrders()).toEqual(new Set([200, 201]));
    const { body } = await caller.get<{ quantity: number }>(`/store/inventory/${petId}`);
    const [taken] = (
      await service.database.pool.query<{ units: string }>(`SELECT sum(quantity) AS units FROM orders`)
    ).rows;
    expect(body.quantity).toBe(1_000 - Number(taken!.units));
  });
});

it('a connection that loses its prepared statements, as behind a pooler, stops naming them', async () => {
  await service.database.pool.query(`
    CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN DEALLOCATE ALL; RETURN NEW; END $$;
    CREATE TRIGGER lose BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION lose()`);
  for (let turn = 1; turn <= 3; turn += 1) {
    expect(await answersToReadsAndOrders()).toEqual(new Set([200, 201]));
  }
});
