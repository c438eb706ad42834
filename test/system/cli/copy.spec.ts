import { complaint, petstore, petstoreJson } from '../../support/command-line';
import { ServiceBench } from '../../support/service-process';
import { type TestDatabase, createTestDatabase } from '../../support/test-database';

const bench = new ServiceBench();
const embedded = bench.embedded();
const databases: TestDatabase[] = [];
let key: string;

async function database(template = 'template1'): Promise<TestDatabase> {
  const created = await createTestDatabase(template);
  databases.push(created);
  return created;
}

const copy = ({ url }: { url: string }, environment: Record<string, string> = embedded) =>
  petstore(['db', 'copy', '--to', url], environment);
const tablesOf = async ({ pool }: TestDatabase) =>
  (await pool.query(`SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace`)).rowCount;

beforeAll(async () => {
  const service = await bench.serve(embedded);
  key = service.firstKey!;
  const answer = await service.send(key, 'POST', '/store/orders', { petId: 1 });
  expect(answer.status).toBe(201);
  await service.end();
});
afterAll(async () => {
  await bench.clear();
  await Promise.all(databases.map((one) => one.drop()));
});

it('moves an embedded store, keys included, to a server from which the service can then run', async () => {
  const target = await database();
  const tables = await petstoreJson<{ table: string; rows: number }[]>(
    ['db', 'copy', '--to', target.url],
    embedded,
  );
  const rows = Object.fromEntries(tables.map(({ table, rows }) => [table, rows]));
  expect(rows).toMatchObject({ orders: 1, clients: 1, api_keys: 1, usage_days: 1 });
  const moved = await bench.serve({ DATABASE_URL: target.url });
  const order = await moved.send(key, 'GET', '/store/orders/1');
  expect({ status: order.status, left: order.headers.get('X-RateLimit-Limit') }).toEqual({
    status: 200,
    left: '60',
  });
  const placed = await moved.send(key, 'POST', '/store/orders', { petId: 2 });
  expect(((await placed.json()) as { id: number }).id).toBeGreaterThan(1);
  await moved.end();
});

it('prints a table of what it copied', async () => {
  const { code, stdout } = await copy(await database());
  expect(code).toBe(0);
  expect(stdout).toMatch(/^table +rows\n[^]*\norders +1\n[^]*\nCopied [\d,]+ rows; the counts agree\./);
});

describe('is refused, with nothing changed, where the target', () => {
  it('has tables', async () => {
    const target = await database('template');
    const before = await tablesOf(target);
    expect(await copy(target)).toEqual(complaint(1, /not empty: it has the table \w+/));
    expect(await tablesOf(target)).toBe(before);
  });

  it('is the database of the store, even under another name', async () => {
    const own = await database('template');
    const alias = new URL(own.url);
    alias.hostname = 'localhost';
    expect(await copy({ url: alias.href }, { DATABASE_URL: own.url })).toEqual(
      complaint(1, /is the same database as the source/),
    );
  });

  it('is unreachable, without its password in the message', async () => {
    const outcome = await copy({ url: 'postgres://user:not-to-be-seen@127.0.0.1:1/store' });
    expect(outcome).toEqual(complaint(1, /--to cannot be used: connect ECONNREFUSED/));
    expect(outcome.stderr).not.toContain('not-to-be-seen');
  });

  it('is not PostgreSQL', async () => {
    expect(await copy({ url: 'mysql://user:secret@host/store' })).toEqual(complaint(2, /--to takes a URL/));
  });
});

it('is refused when the store itself lacks migrations', async () => {
  const [source, target] = [await database(), await database()];
  expect(await copy(target, { DATABASE_URL: source.url })).toEqual(complaint(1, /not up to date/));
  expect(await tablesOf(target)).toBe(0);
});
