import { complaint } from '../../support/command-line';
import { useCommandLine } from './support/use-command-line';

const { database, run, json } = useCommandLine();

beforeAll(async () => {
  await database.pool.query(`INSERT INTO categories (name) VALUES ('Dogs'), ('Cats')`);
  await database.pool.query(
    `INSERT INTO pets (name, category_id, status)
     SELECT 'Pet ' || n, 1 + n % 2, CASE WHEN n = 1 THEN 'pending' ELSE 'available' END FROM generate_series(1, 150) AS n`,
  );
  await database.pool.query(`INSERT INTO inventory SELECT id, CASE WHEN id = 1 THEN 0 ELSE 5 END FROM pets`);
  await database.pool.query(`INSERT INTO orders (pet_id, quantity) VALUES (1, 1), (2, 3)`);
});

it('lists respect their limit and the filters of the API', async () => {
  expect(await json<object[]>('pets', 'list', '--limit', '1000')).toHaveLength(150);
  const some = await json<{ id: number }[]>(
    'pets',
    'list',
    '--limit',
    '110',
    '--after',
    '20',
    '--category',
    '1',
  );
  expect(some.map(({ id }) => id)).toEqual(Array.from({ length: 65 }, (_none, index) => 22 + 2 * index));
  expect(await json('pets', 'list', '--status', 'pending,sold')).toEqual([
    { id: 1, name: 'Pet 1', categoryId: 2, status: 'pending' },
  ]);
  expect(await json('categories', 'list', '--name', 'ca')).toEqual([{ id: 2, name: 'Cats' }]);
  expect(await json('stock', 'show', '2')).toEqual({ petId: 2, quantity: 5, status: 'available' });
  const { stdout, stderr } = await run('pets', 'list', '--limit', '2');
  expect(stdout.split('\n')).toHaveLength(4);
  expect(stderr).toContain('There are more: --after 2 continues');
});

it('the caller chooses the format, the columns and their order', async () => {
  const list = (...args: string[]) => run('pets', 'list', '--limit', '2', '--columns', 'name,id', ...args);
  expect((await list('--output', 'csv', '--sort', '-id')).stdout).toBe('name,id\nPet 150,150\nPet 149,149\n');
  expect((await list('--output', 'yaml')).stdout).toBe('- name: Pet 1\n  id: 1\n- name: Pet 2\n  id: 2\n');
  expect((await list()).stdout).toBe('name   id\nPet 1   1\nPet 2   2\n');
  expect(await run('pets', 'list', '--columns', 'colour')).toEqual(
    complaint(2, /--columns takes id, name, categoryId, status, not "colour"/),
  );
});

it('a list is sorted before its limit applies, whichever page a row is on', async () => {
  await database.pool.query(`UPDATE inventory SET quantity = 900 - pet_id WHERE pet_id IN (7, 142)`);
  const sort = (...args: string[]) => run('stock', 'list', '--limit', '2', '--columns', 'quantity', ...args);
  const { stdout, stderr } = await sort('--sort', '-quantity');
  expect(stdout).toBe('quantity\n     893\n     758\n');
  expect(stderr).toBe('\nThere are more: --limit shows more at once.\n');
  expect((await sort('--sort', '-quantity', '--after', '7', '-o', 'csv')).stdout).toBe('quantity\n758\n5\n');
  expect(await sort('--sort', 'quantity', '--status', 'pending')).toMatchObject({
    stdout: 'quantity\n       0\n',
    stderr: '',
  });
});

it('CSV is quoted, and contains no terminal sequences', async () => {
  await database.pool.query(`INSERT INTO categories (name) VALUES ($1)`, ['a "b", c\u001b[2J\n']);
  const { stdout } = await run('categories', 'list', '--output', 'csv', '--after', '2');
  expect(stdout).toBe('id,name\n3,"a ""b"", c\\u001b[2J\\u000a"\n');
});

it('orders are completed and cancelled by the rules of the API', async () => {
  expect(await run('orders', 'cancel', '2')).toEqual(complaint(2, /Cancel order 2 for 3 units of pet 2\?/));
  expect(await json('orders', 'cancel', '2', '--yes')).toMatchObject({ id: 2, cancelled: true });
  expect(await json('stock', 'show', '2')).toMatchObject({ quantity: 8 });
  expect(await json('orders', 'complete', '1')).toMatchObject({ id: 1, complete: true });
  expect(await json('pets', 'show', '1')).toMatchObject({ status: 'sold' });
  expect(await run('orders', 'cancel', '1', '--yes', '--json')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^{"error":{"code":"order_already_complete",/) as string,
  });
  expect(await json('orders', 'list', '--open')).toEqual([]);
});

it('orders that the operator completes or cancels are in the audit log, unless nothing changed', async () => {
  await database.pool.query(`INSERT INTO orders (pet_id, quantity) VALUES (3, 1), (4, 2)`);
  const [, , completed, cancelled] = (
    await database.pool.query<{ id: string }>('SELECT id FROM orders ORDER BY id')
  ).rows.map(({ id }) => Number(id));
  const orderEntries = async () => {
    const entries = await json<{ action: string; actor: object; details: object }[]>(
      'audit',
      '--action',
      'order.',
    );
    return entries
      .filter(({ details }) => [completed, cancelled].includes((details as { orderId: number }).orderId))
      .map(({ action, actor, details }) => ({ action, kind: (actor as { kind: string }).kind, details }));
  };
  await json('orders', 'complete', String(completed), '--reason', 'picked up');
  await json('orders', 'complete', String(completed));
  await run('orders', 'cancel', String(completed), '--yes');
  await json('orders', 'cancel', String(cancelled), '--yes');
  expect(await orderEntries()).toEqual([
    { action: 'order.cancelled', kind: 'cli', details: { orderId: cancelled, petId: 4, quantity: 2 } },
    {
      action: 'order.completed',
      kind: 'cli',
      details: { orderId: completed, petId: 3, quantity: 1, reason: 'picked up' },
    },
  ]);
});
