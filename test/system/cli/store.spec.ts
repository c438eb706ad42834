import { complaint } from '../../support/command-line';
import { until } from '../../support/eventually';
import { RunningCommand } from './support/running-command';
import { useCommandLine } from './support/use-command-line';

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
    const { rows } = await database.pool.query<{ action: string; details: object }>(
      `SELECT action, details FROM audit_entries ORDER BY id`,
    );
    expect(rows).toEqual([
      { action: 'webhook.disabled', details: { webhookId: 1, reason } },
      { action: 'webhook.enabled', details: { webhookId: 1 } },
    ]);

    expect(await json('webhooks', 'retry', '1')).toEqual({ id: 1, retried: 2 });
    expect(await json('webhooks', 'show', '1')).toMatchObject({ failed: 0, pending: 2 });
    expect((await run('webhooks', 'retry', '1')).stdout).toBe('0 deliveries are due now.\n');

    const { event } = await json<{ event: string }>('webhooks', 'test', '1');
    const { rows: due } = await database.pool.query<object>(
      `SELECT type, status FROM webhook_deliveries WHERE event_id = $1`,
      [event],
    );
    expect(due).toEqual([{ type: 'webhook.test', status: 'pending' }]);
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
