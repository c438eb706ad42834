import { complaint } from '../../support/command-line';
import { until } from '../../support/eventually';
import { RunningCommand } from './support/running-command';
import { useCommandLine } from './support/use-command-line';

interface Entry {
  action: string;
  client: string;
  details: object;
}

/** A store of 150 pets, of which the first is pending. */
function useStore() {
  const line = useCommandLine();
  beforeAll(async () => {
    const { pool } = line.database;
    await pool.query(`INSERT INTO categories (name) VALUES ('Dogs'), ('Cats')`);
    await pool.query(
      `INSERT INTO pets (name, category_id, status)
       SELECT 'Pet ' || n, 1 + n % 2, CASE WHEN n = 1 THEN 'pending' ELSE 'available' END FROM generate_series(1, 150) AS n`,
    );
    await pool.query(`INSERT INTO inventory SELECT id, CASE WHEN id = 1 THEN 0 ELSE 5 END FROM pets`);
    await pool.query(`INSERT INTO orders (pet_id, quantity) VALUES (1, 1), (2, 3), (4, 2)`);
  });
  return line;
}

describe('lists', () => {
  const { database, run, json } = useStore();

  it('respect their limit and the filters of the API', async () => {
    expect(await json<object[]>('pets', 'list', '--limit', '1000')).toHaveLength(150);
    const some = 'pets list --limit 110 --after 20 --category 1'.split(' ');
    const ids = (await json<{ id: number }[]>(...some)).map(({ id }) => id);
    expect(ids).toEqual(Array.from({ length: 65 }, (_none, index) => 22 + 2 * index));
    const pending = [{ id: 1, name: 'Pet 1', categoryId: 2, status: 'pending' }];
    expect(await json('pets', 'list', '--status', 'pending,sold')).toEqual(pending);
    expect(await json('pets', 'list', '--status', 'pending', '--status', 'sold')).toEqual(pending);
    expect(await json('pets', 'list', '--limit', '2', '--category', 'dogs')).toMatchObject([
      { id: 2 },
      { id: 4 },
    ]);
    expect(await run('pets', 'list', '--category', 'Birds')).toEqual(complaint(1, /no category named Birds/));
    expect(await json('categories', 'list', '--name', 'ca')).toEqual([{ id: 2, name: 'Cats' }]);
    expect(await json('stock', 'show', '2')).toEqual({ petId: 2, quantity: 5, status: 'available' });
    const { stdout, stderr } = await run('pets', 'list', '--limit', '2');
    expect(stdout.split('\n')).toHaveLength(4);
    expect(stderr).toContain('There are more: --after 2 continues');
  });

  it('have the format, the columns and their order that the caller chooses', async () => {
    const list = (...args: string[]) => run('pets', 'list', '--limit', '2', '--columns', 'name,id', ...args);
    const csv = await list('--output', 'csv', '--sort', '-id');
    expect(csv.stdout).toBe('name,id\nPet 150,150\nPet 149,149\n');
    expect((await list('--output', 'yaml')).stdout).toBe('- name: Pet 1\n  id: 1\n- name: Pet 2\n  id: 2\n');
    expect((await list()).stdout).toBe('name   id\nPet 1   1\nPet 2   2\n');
    expect(await run('pets', 'list', '--columns', 'colour')).toEqual(
      complaint(2, /--columns takes id, name, categoryId, status, not "colour"/),
    );
  });

  it('are sorted before their limit applies, whichever page a row is on', async () => {
    await database.pool.query(`UPDATE inventory SET quantity = 900 - pet_id WHERE pet_id IN (7, 142)`);
    const sort = (...args: string[]) =>
      run('stock', 'list', '--limit', '2', '--columns', 'quantity', ...args);
    const { stdout, stderr } = await sort('--sort', '-quantity');
    expect(stdout).toBe('quantity\n     893\n     758\n');
    expect(stderr).toBe('\nThere are more: --limit shows more at once.\n');
    const after = await sort('--sort', '-quantity', '--after', '7', '-o', 'csv');
    expect(after.stdout).toBe('quantity\n758\n5\n');
    const pending = await sort('--sort', 'quantity', '--status', 'pending');
    expect(pending).toMatchObject({ stdout: 'quantity\n       0\n', stderr: '' });
  });

  it('are quoted in CSV, and contain no terminal sequences', async () => {
    await database.pool.query(`INSERT INTO categories (name) VALUES ($1)`, ['a "b", c\u001b[2J\n']);
    const { stdout } = await run('categories', 'list', '--output', 'csv', '--after', '2');
    expect(stdout).toBe('id,name\n3,"a ""b"", c\\u001b[2J\\u000a"\n');
  });
});

describe('orders', () => {
  const { run, json } = useStore();

  it('are completed and cancelled by the rules of the API, and recorded unless nothing changed', async () => {
    expect(await run('orders', 'cancel', '2')).toEqual(complaint(2, /Cancel order 2 for 3 units of pet 2\?/));
    expect(await json('orders', 'cancel', '2', '--yes')).toMatchObject({ id: 2, cancelled: true });
    expect(await json('stock', 'show', '2')).toMatchObject({ quantity: 8 });
    const completed = await json('orders', 'complete', '1', '--reason', 'picked up');
    expect(completed).toMatchObject({ id: 1, complete: true });
    await json('orders', 'complete', '1');
    expect(await json('pets', 'show', '1')).toMatchObject({ status: 'sold' });
    expect(await run('orders', 'cancel', '1', '--yes', '--json')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^{"error":{"code":"order_already_complete",/) as string,
    });
    expect(await json('orders', 'list', '--open')).toMatchObject([{ id: 3, petId: 4 }]);
    expect(await json('audit', '--action', 'order.')).toMatchObject([
      {
        ...{ action: 'order.completed', actor: { kind: 'cli' } },
        details: { orderId: 1, petId: 1, quantity: 1, reason: 'picked up' },
      },
      { action: 'order.cancelled', details: { orderId: 2, petId: 2, quantity: 3 } },
    ]);
  });
});

describe('webhooks', () => {
  const { database, run, json } = useCommandLine();

  beforeAll(async () => {
    await database.pool.query(`INSERT INTO clients (name, plan) VALUES ('acme', 'free'), ('other', 'free')`);
    await database.pool.query(
      `INSERT INTO webhooks (client_id, url, enabled, secrets, created_at)
       SELECT id, 'https://shop.example/hunter2?token=hunter2', true, '[]', now() FROM clients ORDER BY id`,
    );
    await database.pool.query(
      `INSERT INTO webhook_deliveries (webhook_id, event_id, type, status, attempts, due_at, created_at)
       SELECT 1, 'evt_' || number, 'pet.created', CASE WHEN number > 3 THEN 'failed' ELSE 'delivered' END, 10, now(), now()
       FROM generate_series(1, 5) AS number`,
    );
  });

  it('are shown without the path of their URL, disabled and enabled with a reason, and retry their failed deliveries', async () => {
    const [first, ...others] = await json<object[]>('webhooks', 'list', '--client', 'acme');
    expect(others).toEqual([]);
    const counts = { failed: 2, pending: 0 };
    expect(first).toMatchObject({ id: 1, client: 'acme', url: 'https://shop.example', ...counts });
    expect(await json('webhooks', 'show', '1')).toEqual(first);
    expect(await json('webhooks', 'list')).toHaveLength(2);
    expect((await run('webhooks', 'list')).stdout).not.toContain('hunter2');
    expect((await run('webhooks', 'show', '1')).stdout).toMatch(/\ntypes +all\n/);
    expect(await run('webhooks', 'show', '99')).toEqual(complaint(1, /There is no webhook 99/));

    const reason = 'It floods our proxy.';
    const disabled = await json('webhooks', 'disable', '1', '--reason', reason);
    expect(disabled).toMatchObject({ state: 'disabled', reason });
    expect(await json('webhooks', 'enable', '1')).toMatchObject({ state: 'enabled', reason: null });
    const entries = await json<Entry[]>('audit', '--action', 'webhook.');
    expect(entries.map(({ action }) => action)).toEqual(['webhook.enabled', 'webhook.disabled']);
    expect(entries[1]).toMatchObject({ details: { webhookId: 1, reason } });

    expect(await json('webhooks', 'retry', '1')).toEqual({ id: 1, retried: 2 });
    expect(await json('webhooks', 'show', '1')).toMatchObject({ failed: 0, pending: 2 });
    expect((await run('webhooks', 'retry', '1')).stdout).toBe('0 deliveries are due now.\n');
  });
});

describe('events', () => {
  const { database, environment } = useCommandLine();

  it('--follow ends at Ctrl-C while it is still reading many new events', async () => {
    const EVENTS = 100_000;
    const insert = (count: number) =>
      database.pool.query(
        `INSERT INTO events (id, type, pet_id, data)
         SELECT gen_random_uuid(), 'pet.created', 1, '{}' FROM generate_series(1, $1::int)`,
        [count],
      );
    await insert(1);
    const follower = new RunningCommand(['events', '--follow'], { environment, cwd: '/' });
    // It shows what there is, and then follows.
    await until(() => follower.stdout !== '');
    const before = follower.stdout;
    await insert(EVENTS);
    await until(() => follower.stdout !== before);
    const { code, stdout, stderr } = await follower.end('SIGINT');
    const interrupted = 'petstore: interrupted; no more events are shown.\n';
    expect({ code, stderr }).toEqual({ code: 130, stderr: interrupted });
    expect(stdout.split('\n').length).toBeLessThan(EVENTS);
  });
});
