// How many deliveries a second one instance makes to one local receiver: node test/bench/run.js test/bench/webhooks.ts [events]
// The service, PostgreSQL, the receiver and this program share the machine.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { until } from '../support/eventually';
import { ROOT } from '../support/files';
import { service } from './contenders';
import { withCleanUp } from './harness/clean-up';
import { Databases, temporaryFolder } from './harness/databases';
import { send, sendAll } from './harness/send';
import { startContender } from './harness/start-contender';

const EVENTS = Number(process.argv[2] ?? 10_000);
const WRITERS = 32;
const PATIENCE_MS = 300_000;
const { signal } = new AbortController();
const environment = {
  WEBHOOK_NETWORKS: '127.0.0.0/8',
  WEBHOOK_KEY: Buffer.alloc(32, 'k').toString('base64'),
};

/** Answers no request until it is opened, so that deliveries wait. */
async function startReceiver() {
  let received = 0;
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      void opened.then(() => {
        received += 1;
        response.writeHead(204).end();
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { url, open, received: () => received };
}

async function main(): Promise<void> {
  const receiver = await startReceiver();
  await withCleanUp(async (cleanUp) => {
    const folder = await temporaryFolder(cleanUp);
    const databases = await Databases.start(join(folder, 'postgres'), cleanUp, signal);
    const surroundings = {
      folder,
      databases,
      redisUrl: undefined,
      logLevel: 'warn',
      manyPets: 0,
      delayMs: 0,
      signal,
    };
    const { url, apiKey: key } = await startContender(service(ROOT, { environment }), surroundings, cleanUp);
    const post = (path: string, body: object) => ({
      method: 'POST' as const,
      path,
      body: JSON.stringify(body),
    });
    await send(url, post('/webhooks', { url: receiver.url }), { 'X-API-Key': key }, signal);
    const categories = Array.from({ length: EVENTS }, (_none, index) => ({
      request: post('/categories', { name: `Category ${index}` }),
      key,
    }));
    await sendAll(url, categories, WRITERS, signal, () => undefined);
    const since = performance.now();
    receiver.open();
    await until(() => receiver.received() >= EVENTS, PATIENCE_MS);
    const seconds = (performance.now() - since) / 1_000;
    const rate = Math.round(receiver.received() / seconds);
    process.stdout.write(`${receiver.received()} deliveries in ${seconds.toFixed(2)} s: ${rate} a second.\n`);
  });
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exit(1);
  },
);
