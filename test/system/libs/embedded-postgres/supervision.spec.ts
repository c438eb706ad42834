import * as fs from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { answers, Bench, killPostmaster, postmasterPid } from '../../../support/embedded-postgres-bench';
import { type Checkout, makeCheckout } from '../../../support/checkout';
import { until } from '../../../support/eventually';

const bench = new Bench();
let checkout: Checkout;

beforeAll(() => {
  checkout = makeCheckout(bench.path('checkout'));
});

afterAll(() => bench.clear());

/** All tests use one folder after the other: to make a database takes longer than everything else here. */
const folder = { dataDirectory: bench.path('shop'), database: 'shop' };
const cluster = join(folder.dataDirectory, 'data');
const hold = (supervise = true) => bench.hold(checkout, { ...folder, supervise });
const kill = (): void => void process.kill(postmasterPid(cluster)!, 'SIGKILL');

describe('a supervised server', () => {
  it('is started once, however many processes supervise it', async () => {
    const holders = Array.from({ length: 3 }, () => hold());
    const [answer] = await Promise.all(holders.map((holder) => holder.answer));
    const { url } = answer!;
    const killed = postmasterPid(cluster);
    kill();
    await until(async () => postmasterPid(cluster) !== killed && (await answers(url)));
    const pid = postmasterPid(cluster);
    // Long enough for everybody to have looked.
    for (const end = Date.now() + 1_500; Date.now() < end; ) {
      expect(await answers(url)).toBe(true);
      expect(postmasterPid(cluster)).toBe(pid);
    }
    for (const holder of holders) expect(await holder.stop()).toBe(0);
    expect(await answers(url)).toBe(false);
  });

  it('that dies while its last holder stops stays down', async () => {
    for (const pause of [0, 500]) {
      const holder = hold();
      const { url } = await holder.answer;
      kill();
      await new Promise((resolve) => setTimeout(resolve, pause));
      expect(await holder.stop()).toBe(0);
      expect(await answers(url)).toBe(false);
      expect(fs.readdirSync(join(folder.dataDirectory, 'holders'))).toEqual([]);
    }
  });

  it('waits for its port while another program uses it', async () => {
    const holder = hold();
    const { url } = await holder.answer;
    const port = Number(new URL(url).port);
    // Halted, so that it does not bring the server back before the port is taken.
    holder.child.kill('SIGSTOP');
    kill();
    const thief = await listen(port);
    holder.child.kill('SIGCONT');
    // Two attempts have failed by then, and a third one comes within two seconds.
    await new Promise((resolve) => setTimeout(resolve, 1_700));
    expect(await answers(url)).toBe(false);
    await new Promise((resolve) => thief.close(resolve));
    await until(() => answers(url));
    await holder.stop();
  });
});

describe('an unsupervised server', () => {
  it('stays down until the next start', async () => {
    const holder = hold(false);
    const { url } = await holder.answer;
    await killPostmaster(cluster);
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect(await answers(url)).toBe(false);
    expect(await holder.stop()).toBe(0);
  });
});

/** As soon as the port is free. */
async function listen(port: number): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  await until(
    () =>
      new Promise<boolean>((resolve) => {
        server.once('error', () => resolve(false));
        server.listen(port, '127.0.0.1', () => resolve(true));
      }),
  );
  return server;
}
