import { once } from 'node:events';
import type { Redis } from 'ioredis';
import { connectRedis } from '../../../../src/modules/quotas/stores/redis-connection';
import { RedisQuotaStore } from '../../../../src/modules/quotas/stores/redis-quota-store';
import type { QuotaRecords } from '../../../../src/modules/quotas/stores/quota-records';
import type { Subject } from '../../../../src/modules/quotas/stores/quota-store';
import { RedisServer } from '../../../support/redis-server';
import { TcpProxy } from '../../../support/tcp-proxy';

const SUBJECT: Subject = { kind: 'address', address: '192.0.2.1', limits: { perMinute: 100, perDay: null } };
/** So long that Redis itself keeps to it on any machine. */
const BUDGET_MS = 1_000;
/** More than the time that one answer of Redis may take. */
const BUSY_MS = 1_400;

let server: RedisServer;
let proxy: TcpProxy;
const clients: Redis[] = [];

beforeAll(async () => {
  server = await RedisServer.start();
  proxy = await TcpProxy.start(server.url);
});

afterAll(async () => {
  clients.forEach((client) => client.disconnect());
  await proxy.close();
  await server.close();
});

async function connectedTo(url: string): Promise<RedisQuotaStore> {
  const client = connectRedis(url) as Redis;
  clients.push(client);
  await once(client, 'ready');
  const store = new RedisQuotaStore(client, {} as QuotaRecords, BUDGET_MS);
  await store.probe();
  return store;
}

/** Work of other requests, which nothing interrupts. */
function beBusy(): void {
  const end = performance.now() + BUSY_MS;
  while (performance.now() < end);
}

const aTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('a busy process does not mistake its own delay for a silence of Redis', () => {
  test('while the response arrived', async () => {
    const store = await connectedTo(server.url);
    const taken = store.take(SUBJECT);
    await aTurn();
    beBusy();
    expect(await taken).toMatchObject({ outcome: 'allowed' });
  });

  test('before the request was sent', async () => {
    // The way through the proxy takes some turns, so the answer cannot be there when the budget is first looked at.
    const store = await connectedTo(proxy.url);
    const taken = store.take(SUBJECT);
    beBusy();
    expect(await taken).toMatchObject({ outcome: 'allowed' });
  });
});
