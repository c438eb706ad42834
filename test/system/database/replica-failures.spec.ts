import { Logger } from '@nestjs/common';
import type { ApiClient } from '../../support/api-client';
import { Arrange } from '../../support/builders';
import { LISTS, ReplicatedService } from './support/replicated-service';
import { SteadyReads } from './support/steady-reads';
import { until } from '../../support/eventually';

// The tests go on from each other, with one replica, and the last one ends it.

let replicated: ReplicatedService;
let writer: ApiClient;
let reader: ApiClient;
const told = jest.spyOn(Logger.prototype, 'log');
const warned = jest.spyOn(Logger.prototype, 'warn');

beforeAll(async () => {
  replicated = await ReplicatedService.start();
  writer = await replicated.service.caller();
  reader = await replicated.service.caller();
});

afterAll(async () => {
  jest.restoreAllMocks();
  await replicated?.close();
});

beforeEach(async () => {
  // A busy machine may have it left for a moment before, and a replica that is left is not told of again.
  await replicated.inUse(true);
  told.mockClear();
  warned.mockClear();
});

/** A process that gets no turn for a while hears nothing in time, which may come first. */
const LAG = '(it may be \\d+\\.\\d s behind|.*timeout.*)';

/** It is told of when it is next observed, a moment after it was left. */
async function toldWith(reason: string): Promise<void> {
  const { host } = new URL(replicated.store.access.url);
  const line = new RegExp(`^Lists are not read from the replica ${host}: ${reason}\\.$`);
  await until(() => warned.mock.calls.some(([text]) => line.test(String(text))));
}

it('A replica is left while it may be more than a second behind, and taken back when it is not', async () => {
  const write = () => new Arrange(writer).category('Lag');
  await replicated.whileBehind(write, async () => {
    await replicated.inUse(false);
    expect((await reader.get('/categories?name=Lag')).text).toContain('Lag');
  });
  await replicated.inUse(true);
  await replicated.readsFromReplica(reader);
  expect((await reader.get('/categories?name=Lag')).text).toContain('Lag');
  await toldWith(LAG);
  const { host } = new URL(replicated.store.access.url);
  expect(told.mock.calls).toContainEqual([`Lists are read from the replica ${host}.`]);
});

it('One that is cut off from its primary is left when that has gone on without it', async () => {
  const { replication } = replicated.store;
  await replication.refuse();
  try {
    await new Arrange(writer).category('Cut off');
    await replicated.inUse(false);
    expect((await reader.get('/categories?name=Cut')).text).toContain('Cut off');
    await toldWith(LAG);
  } finally {
    await replication.restore();
  }
  await replicated.inUse(true);
});

describe.each([
  ['stopped and started', 'standby', 'stop', 'start'],
  ['cut off', 'access', 'refuse', 'restore'],
  ['hanging up', 'access', 'cut', 'restore'],
  ['silent', 'access', 'fallSilent', 'restore'],
] as const)('A replica that is %s', (_, where, fail, mend) => {
  it('fails no request, is left at once, and is taken back', async () => {
    await replicated.readsFromReplica(reader);
    const reads = new SteadyReads(reader, LISTS);
    const part = replicated.store[where] as unknown as Record<string, () => Promise<void> | void>;
    await part[fail]!();
    await replicated.inUse(false);
    await part[mend]!();
    await replicated.inUse(true);
    const { statuses, count } = await reads.end();
    expect(statuses).toEqual([200]);
    expect(count).toBeGreaterThan(20);
    await toldWith('.+');
    await replicated.readsFromReplica(reader);
  });
});

it('One that has been promoted is no longer read', async () => {
  await replicated.store.standby.query('SELECT pg_promote(true)');
  await replicated.inUse(false);
  await toldWith('it is not a standby');
  const { id } = await new Arrange(writer).category('Promoted');
  expect((await reader.get('/categories?name=Promoted')).body).toEqual([{ id, name: 'Promoted' }]);
  expect((await fetch(`${replicated.service.url}/health/ready`)).status).toBe(200);
});
