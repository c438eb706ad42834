import { complaint, petstoreJson } from '../../support/command-line';
import { until } from '../../support/eventually';
import { useCommandLine } from './support/use-command-line';
import { RunningCommand } from './support/running-command';

const { database, environment, run, json } = useCommandLine('webhooks');

interface Overview {
  id: number;
  state: string;
  reason: string | null;
  failed: number;
  pending: number;
}

beforeAll(async () => {
  await database.pool.query(`INSERT INTO clients (name, plan) VALUES ('acme', 'free'), ('other', 'free')`);
  await database.pool.query(
    `INSERT INTO webhooks (client_id, url, enabled, secrets, created_at)
     SELECT id, 'https://shop.example/hunter2?token=hunter2', true, '[]', now() FROM clients ORDER BY id`,
  );
  await database.pool.query(
    `INSERT INTO webhook_deliveries (webhook_id, event_id, type, payload, status, attempts, due_at, created_at)
     SELECT 1, 'evt_' || number, 'pet.created', '{}', CASE WHEN number > 3 THEN 'failed' ELSE 'delivered' END, 10, now(), now()
     FROM generate_series(1, 5) AS number`,
  );
});

it('list and show count pending and failed deliveries, and hide the path of a URL', async () => {
  const [first, ...others] = await json<Overview[]>('list', '--client', 'acme');
  expect(others).toEqual([]);
  expect(first).toMatchObject({ id: 1, client: 'acme', url: 'https://shop.example', failed: 2, pending: 0 });
  expect(await json('show', '1')).toEqual(first);
  expect(await json<Overview[]>('list')).toHaveLength(2);
  expect((await run('list')).stdout).not.toContain('hunter2');
  expect((await run('show', '1')).stdout).toMatch(/\ntypes +all\n/);
});

it('disable and enable change the state, with a reason and an entry in the audit log', async () => {
  const disabled = await json<Overview>('disable', '1', '--reason', 'It floods our proxy.');
  expect(disabled).toMatchObject({ state: 'disabled', reason: 'It floods our proxy.' });
  expect(await json('enable', '1')).toMatchObject({ state: 'enabled', reason: null });
  const entries = await petstoreJson<{ action: string; client: string; details: object }[]>(
    ['audit', '--action', 'webhook.'],
    environment,
  );
  expect(entries.map(({ action }) => action)).toEqual(['webhook.enabled', 'webhook.disabled']);
  expect(entries[1]).toMatchObject({ details: { webhookId: 1, reason: 'It floods our proxy.' } });
});

it('retry makes failed deliveries due again', async () => {
  expect(await json('retry', '1')).toEqual({ id: 1, retried: 2 });
  expect(await json('show', '1')).toMatchObject({ failed: 0, pending: 2 });
  expect((await run('retry', '1')).stdout).toBe('0 deliveries are due now.\n');
});

it('reports an unknown webhook and an invalid id', async () => {
  expect(await run('show', '99')).toEqual(complaint(1, /There is no webhook 99/));
  expect(await run('enable', 'x')).toEqual(complaint(2, /<id> takes an id, which is a whole number/));
});

it('events --follow ends at Ctrl-C while it is still reading many new events', async () => {
  const EVENTS = 100_000;
  const event = [{ id: '0'.repeat(32), type: 'pet.created', petId: 1, data: {} }];
  const insert = (count: number) =>
    database.pool.query(
      `INSERT INTO event_blocks (size, types, pets, events) SELECT 1, 1, '{1}', $1 FROM generate_series(1, $2::int)`,
      [JSON.stringify(event), count],
    );
  await insert(1);
  const follower = new RunningCommand(['events', '--follow'], { environment, cwd: '/' });
  // It shows what there is, and then follows.
  await until(() => follower.stdout !== '');
  const before = follower.stdout;
  await insert(EVENTS);
  await database.pool.query('NOTIFY petstore_events');
  await until(() => follower.stdout !== before);
  const { code, stdout, stderr } = await follower.end('SIGINT');
  expect({ code, stderr }).toEqual({
    code: 130,
    stderr: 'petstore: interrupted; no more events are shown.\n',
  });
  expect(stdout.split('\n').length).toBeLessThan(EVENTS);
});
