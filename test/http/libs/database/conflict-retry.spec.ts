import { type InventoryItem, type Order, aPet } from '../../../support/builders';
import { useStore } from '../../../support/use-service';

describe('an order whose transaction conflicts with another one', () => {
  const { service, caller, arrange } = useStore();

  beforeAll(async () => {
    // A sequence does not roll back, so it counts the attempts; all up to `failures` end in what PostgreSQL reports then.
    await service.database.pool.query(`
      CREATE SEQUENCE attempts;
      CREATE TABLE failures (count integer, code text);
      CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE code text;
        BEGIN
          SELECT failures.code INTO code FROM failures WHERE nextval('attempts') <= count;
          IF FOUND THEN RAISE EXCEPTION 'lost' USING ERRCODE = code; END IF;
          RETURN NEW;
        END $$;
      CREATE TRIGGER fail BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION fail();`);
  });

  async function failNext(count: number, code: string): Promise<void> {
    await service.database.pool.query(`DELETE FROM failures; ALTER SEQUENCE attempts RESTART`);
    await service.database.pool.query(`INSERT INTO failures VALUES ($1, $2)`, [count, code]);
  }

  it.each([
    ['a deadlock', '40P01', {}],
    ['a serialization conflict, under an Idempotency-Key,', '40001', { 'Idempotency-Key': 'conflict' }],
  ])('is placed once even if %s occurs three times', async (_, code, headers) => {
    const { id: petId } = await arrange.pet(aPet(), 5);
    await failNext(3, code);
    const answer = await caller.with(headers).post<Order>('/store/orders', { petId, quantity: 2 });
    expect(answer).toMatchObject({ status: 201, body: { petId, quantity: 2 } });
    const { body } = await caller.get<InventoryItem>(`/store/inventory/${petId}`);
    expect(body).toEqual({ petId, quantity: 3, status: 'available' });
    expect((await caller.get<Order[]>(`/store/orders?petId=${petId}`)).body).toEqual([answer.body]);
  });

  it('is given up with a 5xx after the fourth conflict, and takes no stock', async () => {
    const { id: petId } = await arrange.pet(aPet(), 5);
    await failNext(4, '40P01');
    const answer = await caller.post('/store/orders', { petId });
    expect(answer.status).toBeGreaterThanOrEqual(500);
    expect((await caller.get(`/store/inventory/${petId}`)).body).toMatchObject({ quantity: 5 });
  });
});
