import { requestText } from '../../support/raw-http';
import { Flood } from '../../support/client-flood';
import { ValidClient } from './support/valid-client';
import { Victim, tell } from './support/victim';
import { tryWrongKeys } from './support/wrong-keys';
import { until } from '../../support/eventually';

const IDLE = 10_000;
const SLOW = 500;
const UNREAD = 200;
const WRONG_KEYS = Number(process.env.ATTACK_WRONG_KEYS ?? 2_000);

let victim: Victim;

beforeAll(async () => {
  victim = await Victim.start();
});
afterAll(() => victim.end());

/** Runs the attack while a valid client works, which must not notice. */
async function underAttack(attack: () => Promise<object | void>): Promise<void> {
  const before = victim.memory;
  const client = new ValidClient(victim.service, victim.key);
  const figures = await attack();
  const served = await client.stop();
  tell({ ...figures, before, after: victim.memory, ...served });
  expect(Object.keys(served.statuses)).toEqual(['200']);
}

it('10,000 silent connections and 500 slow ones do no harm', async () => {
  // By its response, all connections before are accepted.
  const flood = new Flood(victim.port, () => victim.service.send(victim.key, 'GET', '/rate-limit'));
  const before = victim.memory;
  try {
    await underAttack(async () => {
      const slow = await flood.open(SLOW, 'GET /pets HTTP/1.1\r\nHost: a\r\nX-Slow: ');
      const dribble = setInterval(() => slow.forEach((socket) => socket.write('a')), 500);
      await flood.open(IDLE);
      const during = victim.memory;
      clearInterval(dribble);
      expect(during - before).toBeLessThan(250);
      return { connections: flood.sockets.length, during };
    });
  } finally {
    flood.close();
  }
});

it('200 connections that read no response and send as many requests as they can take little memory', async () => {
  const flood = new Flood(victim.port);
  const before = victim.memory;
  try {
    await underAttack(async () => {
      const sockets = await flood.open(UNREAD);
      sockets.forEach((socket) => socket.pause().write(requestText('GET /openapi.json').repeat(200)));
      await until(() => sockets.every((socket) => socket.writableLength === 0));
      // Whatever was read from the other connections before is done when these are answered.
      for (let request = 0; request < 5; request += 1) {
        await victim.service.send(victim.key, 'GET', '/rate-limit');
      }
      expect(victim.memory - before).toBeLessThan(400);
      return { connections: UNREAD, during: victim.memory };
    });
  } finally {
    flood.close();
  }
});

describe.each([
  ['one address', () => ''],
  [
    'many addresses',
    (index: number) => `X-Forwarded-For: 10.${index >> 16}.${(index >> 8) & 255}.${index & 255}\r\n`,
  ],
])(`${WRONG_KEYS} wrong keys from %s`, (_where, fields) => {
  it(
    'are all refused, and neither fill the memory nor delay anyone',
    async () => {
      const before = victim.memory;
      await underAttack(async () => {
        const startedAt = performance.now();
        const statuses = await tryWrongKeys({ port: victim.port, requests: WRONG_KEYS, fields });
        const perSecond = Math.round(WRONG_KEYS / ((performance.now() - startedAt) / 1_000));
        expect(Object.keys(statuses).every((status) => ['401', '429'].includes(status))).toBe(true);
        expect(Object.values(statuses).reduce((sum, count) => sum + count, 0)).toBe(WRONG_KEYS);
        return { wrongKeys: statuses, perSecond };
      });
      expect(victim.memory - before).toBeLessThan(250);
    },
    300_000 + WRONG_KEYS * 10,
  );
});
