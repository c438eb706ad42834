import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Database, ReadReplicas } from '#libs/database';
import { ReplicatedStore } from '../../database/support/replicated-store';
import { until } from '../../../support/eventually';

const SESSION = 1;

let store: ReplicatedStore;
let dataSource: DataSource;
let replicas: ReadReplicas;
let database: Database;
const warned = jest.spyOn(Logger.prototype, 'warn').mockImplementation();

function at(url: string, changes: Partial<Pick<URL, 'pathname' | 'username' | 'password' | 'port'>>): string {
  return Object.assign(new URL(url), changes).href;
}

function reasonFor(url: string): string | undefined {
  const lines = warned.mock.calls.map(([line]) => String(line));
  return lines.find((line) => line.includes(` ${new URL(url).host}: `));
}

/** Where a session's list is read from, and what is read there. */
function listFor(session: number | undefined): { source: string; rows: Promise<{ answer: number }[]> } {
  let read!: ReturnType<typeof listFor>;
  replicas.onBehalfOf(
    () => session,
    () => {
      const source = database.listSource();
      const rows = source.rows<{ answer: number }>(
        { name: 'answer', text: 'SELECT answer FROM answers' },
        [],
      );
      read = { source: source.name, rows };
    },
  );
  return read;
}

async function use(urls: string[]): Promise<void> {
  warned.mockClear();
  await replicas?.onApplicationShutdown();
  replicas = new ReadReplicas({ primaryUrl: store.database.url, urls, poolSize: 2 });
  replicas.onModuleInit();
  database = new Database(dataSource, replicas);
}

beforeAll(async () => {
  store = await ReplicatedStore.start();
  dataSource = await new DataSource({ type: 'postgres', url: store.database.url }).initialize();
  await store.database.pool.query(`
    CREATE TABLE answers AS SELECT 42 AS answer;
    CREATE ROLE stranger LOGIN PASSWORD 'stranger'`);
});

afterAll(async () => {
  warned.mockRestore();
  await replicas?.onApplicationShutdown();
  await dataSource?.destroy();
  await store?.close();
});

it.each([
  ['a primary', () => store.database.url, 'it is not a standby'],
  ['a primary of another database', () => process.env.TEST_POSTGRES_URL!, 'it is not a standby'],
  [
    'a standby of another database',
    () => at(store.standby.url, { pathname: '/postgres' }),
    'of another database',
  ],
  ['nobody', () => at(store.standby.url, { port: '1' }), 'ECONNREFUSED'],
  ['a standby that does not let it in', () => at(store.standby.url, { password: 'wrong' }), 'password'],
])('A URL that leads to %s is told of and not used', async (_, url, reason) => {
  await use([url(), store.access.url]);
  await until(() => replicas.states[1]!.inUse && reasonFor(url()) !== undefined);
  expect(reasonFor(url())).toContain(reason);
  expect(replicas.states[0]).toMatchObject({ inUse: false, lagSeconds: Infinity });
  const { source, rows } = listFor(SESSION);
  expect(source).toBe(new URL(store.access.url).host);
  expect(await rows).toEqual([{ answer: 42 }]);
});

it('Whoever is not known reads from the primary', async () => {
  await use([store.access.url]);
  await until(() => replicas.states[0]!.inUse);
  const { source, rows } = listFor(undefined);
  expect(source).toBe('primary');
  expect(await rows).toEqual([{ answer: 42 }]);
});

it('What a replica refuses to read is read from the primary, and the replica is left alone for longer each time', async () => {
  const url = at(store.access.url, { username: 'stranger', password: 'stranger' });
  await use([url]);
  const restsMs: number[] = [];
  for (let turn = 1; turn <= 3; turn += 1) {
    await until(() => replicas.states[0]!.inUse);
    // It is left at some moment after this one.
    const readAt = performance.now();
    const { source, rows } = listFor(SESSION);
    expect(source).toBe(new URL(url).host);
    expect(await rows).toEqual([{ answer: 42 }]);
    await until(() => replicas.states[0]!.inUse);
    restsMs.push(performance.now() - readAt);
  }
  expect(reasonFor(url)).toContain('permission denied');
  expect(restsMs[1]).toBeGreaterThanOrEqual(500);
  expect(restsMs[2]).toBeGreaterThanOrEqual(1_000);
});

it('A session stays with one replica, and sessions are spread over all', async () => {
  await use([store.access.url, store.standby.url]);
  await until(() => replicas.states.every(({ inUse }) => inUse));
  const sources = [1, 2, 1, 2].map((session) => listFor(session).source);
  expect(sources[0]).not.toBe(sources[1]);
  expect(sources.slice(2)).toEqual(sources.slice(0, 2));
});
