import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { unlimitedKey } from '../../support/command-line';
import { within } from '../../support/eventually';
import { type ServiceProcess, useProcesses } from '../../support/service-process';

const IDLE = 10_000;
const SLOW = 500;
/** When more wait to be accepted, the system drops some, which stay open on this side for good. */
const AT_ONCE = 250;
/** So little that a process which keeps anything of an attack runs out of it; without a limit, garbage may stay long. */
const HEAP = '--max-old-space-size=192';

const { processes, database } = useProcesses();
/** A process of its own, so that its memory is its own. */
let victim: ServiceProcess;
let key: string;
const sockets: Socket[] = [];

beforeAll(async () => {
  victim = await processes.serve({ DATABASE_URL: database.url, LOG_LEVEL: 'error', NODE_OPTIONS: HEAP });
  key = await unlimitedKey(database.url);
});

async function served(target: string): Promise<void> {
  const answer = await victim.send(key, 'GET', target);
  await answer.arrayBuffer();
  expect(answer.status).toBe(200);
}

/** Opens so many connections, and writes this on each. */
async function open(count: number, text = ''): Promise<Socket[]> {
  const opened: Socket[] = [];
  while (opened.length < count) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - opened.length) }, () =>
      connect(Number(new URL(victim.url).port), '127.0.0.1'),
    );
    some.forEach((socket) => socket.on('error', () => undefined));
    sockets.push(...some);
    await within('connections', Promise.all(some.map((socket) => once(socket, 'connect'))));
    // By its response, all connections before are accepted.
    await served('/rate-limit');
    some.forEach((socket) => text !== '' && socket.write(text));
    opened.push(...some);
  }
  return opened;
}

it('10,000 silent connections and 500 slow ones do no harm, and a valid client notices nothing', async () => {
  const resident = () =>
    Number(execFileSync('ps', ['-o', 'rss=', '-p', String(victim.child.pid)]).toString()) / 1_024;
  const before = resident();
  let ended = false;
  const attack = async () => {
    const slow = await open(SLOW, 'GET /pets HTTP/1.1\r\nHost: a\r\nX-Slow: ');
    const dribble = setInterval(() => slow.forEach((socket) => socket.write('a')), 500);
    await open(IDLE).finally(() => clearInterval(dribble));
  };
  const work = async () => {
    while (!ended) await served('/pets');
  };
  await Promise.all([attack().finally(() => (ended = true)), work()]);
  expect(resident() - before).toBeLessThan(250);
  sockets.forEach((socket) => socket.destroy());
});
