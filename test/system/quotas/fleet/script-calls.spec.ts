import { Redis } from 'ioredis';
import {
  RedisUnavailableError,
  ScriptCalls,
  type ScriptStep,
} from '../../../../src/modules/quotas/stores/script-calls';
import { RedisServer } from '../../../support/redis-server';

let server: RedisServer;
let client: Redis;
let calls: ScriptCalls;

beforeAll(async () => {
  server = await RedisServer.start();
  client = new Redis(server.url);
  calls = new ScriptCalls(client, 60_000);
  // The first call brings the script along, and counts as another command.
  await calls.run(aTakeOf('somebody'));
  await calls.run(aTakeOf('somebody'));
});

afterAll(async () => {
  client.disconnect();
  await server.close();
});

function aTakeOf(address: string): ScriptStep {
  return {
    name: 'take',
    keys: [`petstore:{address:${address}}:windows`],
    perMinute: 60,
    perDay: -1,
    takenAt: 0,
    stored: [],
  };
}

async function callsOfTheScript(): Promise<number> {
  const statistics = await client.info('commandstats');
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(statistics)?.[1]);
}

it('all steps of one turn of the event loop are one call, in order', async () => {
  const before = await callsOfTheScript();
  const replies = await Promise.all(Array.from({ length: 5 }, () => calls.run(aTakeOf('one'))));
  expect(replies.map((reply) => reply[5])).toEqual([1, 2, 3, 4, 5]);
  expect(await callsOfTheScript()).toBe(before + 1);
});

it('no call has more than 100 steps', async () => {
  const before = await callsOfTheScript();
  const replies = await Promise.all(Array.from({ length: 201 }, (_, i) => calls.run(aTakeOf(`many ${i}`))));
  expect(new Set(replies.map((reply) => `${reply[0]} ${reply[5]}`))).toEqual(new Set(['allowed 1']));
  expect(await callsOfTheScript()).toBe(before + 3);
});

it('a step that fails does not affect the others', async () => {
  await client.set('petstore:{address:broken}:windows', 'no hash');
  const [left, broken, right] = await Promise.allSettled(
    ['left', 'broken', 'right'].map((address) => calls.run(aTakeOf(address))),
  );
  expect(left).toMatchObject({ status: 'fulfilled', value: { 0: 'allowed', 5: 1 } });
  expect(right).toMatchObject({ status: 'fulfilled', value: { 0: 'allowed', 5: 1 } });
  expect(broken).toMatchObject({ status: 'rejected', reason: expect.any(RedisUnavailableError) as unknown });
  const { cause } = (broken as PromiseRejectedResult).reason as Error;
  expect(String(cause)).toContain('WRONGTYPE');
});
