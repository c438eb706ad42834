import { type TestService, startService } from '../../support/service';
import { type TestDatabase, createTestDatabase } from '../../support/test-database';
import { eventually } from '../../support/eventually';

let database: TestDatabase;
let service: TestService;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await startService({ database });
});
afterAll(async () => {
  await service.close();
  await database.drop();
});

const ROUNDS = 3;
const CALLERS = 6;

it('Under load, when PostgreSQL ends every connection, responses are 2xx or 503, and all counts add up', async () => {
  const { key, client } = await service.issueKey();
  const caller = service.anonymous().with({ 'X-API-Key': key });
  const statuses: number[] = [];
  let running = true;
  const load = Array.from({ length: CALLERS }, async (_caller, index) => {
    while (running) {
      const write = index % 2 === 0;
      const answer = write ? await caller.post('/categories', { name: 'Dogs' }) : await caller.get('/pets');
      statuses.push(answer.status);
    }
  });
  // On until a request was under way on one of the connections.
  for (let round = 0; round < ROUNDS || !statuses.includes(503); round += 1) {
    await served(statuses, 50);
    expect(await terminateAll()).toBeGreaterThan(0);
  }
  await served(statuses, 50);
  running = false;
  await Promise.all(load);

  const succeeded = statuses.filter((status) => status === 200 || status === 201);
  const unavailable = statuses.filter((status) => status === 503);
  expect(unavailable.length).toBeGreaterThan(0);
  expect(succeeded.length + unavailable.length).toBe(statuses.length);
  await eventually(async () => expect(await written(client)).toBe(succeeded.length));
  // A commit whose confirmation was lost is answered 503 and may have happened; none that was confirmed is missing.
  const { rows } = await database.pool.query<{ count: string }>('SELECT count(*) FROM categories');
  const created = statuses.filter((status) => status === 201).length;
  expect(Number(rows[0]!.count)).toBeGreaterThanOrEqual(created);
  expect(Number(rows[0]!.count)).toBeLessThanOrEqual(created + unavailable.length);
});

/** Waits for this many more successful answers. */
async function served(statuses: number[], more: number): Promise<void> {
  const start = statuses.length;
  await eventually(async () => {
    const successes = statuses.slice(start).filter((status) => status < 300);
    expect(successes.length).toBeGreaterThan(more);
    return Promise.resolve();
  });
}

async function terminateAll(): Promise<number> {
  const { rowCount } = await database.pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'petstore'`,
  );
  return rowCount ?? 0;
}

async function written(client: string): Promise<number> {
  const { rows } = await database.pool.query<{ requests: string }>(
    'SELECT sum(requests) AS requests FROM usage_days JOIN clients c ON c.id = client_id WHERE c.name = $1',
    [client],
  );
  return Number(rows[0]?.requests);
}
