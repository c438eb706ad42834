// Compares the service with the hand-written peer in jobs that are more than one request: docs/development/benchmark.md.
import { EventEmitter, once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Agent, createServer, get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  folder,
  median,
  query,
  readOptions,
  run,
  runToEnd,
  serve,
  startPeer,
  startService,
} from './contenders.mjs';
import { call } from './operations.mjs';

const JOBS = {
  import: { what: '100,000 pets from a file', work: importPets },
  deliveries: { what: '8,000 events to a fast receiver', work: (one) => deliverEvents(one, 1) },
  'deliveries-of-two': { what: 'the same by two instances', work: (one) => deliverEvents(one, 2) },
  waiting: { what: 'one event to 2,000 requests that wait for it', work: wakeAll },
  start: { what: 'start until ready, with a million pets and ten million events', work: startAgain },
};
const USAGE = `npm run build && npm run bench:jobs -- [options]
  --only a,b    jobs:
${Object.entries(JOBS)
  .map(([name, { what }]) => `                  ${name.padEnd(18)} ${what}`)
  .join('\n')}
  --rounds N    (3)`;

const { only, rounds } = readOptions(USAGE, Object.keys(JOBS), { rounds: '3' });

const PEER_JOBS = join(import.meta.dirname, 'peer-jobs.mjs');
/** The number of clients. Each may have 50 requests that wait. */
const WAITING_CLIENTS = 40;
const WAITING_OF_CLIENT = 50;
const PETS_OF_IMPORT = 100_000;
/** Fewer than 10,000, because more pending deliveries would disable the webhook. */
const EVENTS_TO_DELIVER = 8_000;
/** The size of the store, which is the same for both, although their tables differ. */
const PETS = 1_000_000;
const EVENTS = 10_000_000;
const EVENT = `json_build_object('id', n, 'name', 'Ada', 'status', 'available', 'categoryId', 1)`;
const SERVICE_FILLING = [
  `INSERT INTO categories (name) VALUES ('Filling')`,
  `INSERT INTO pets (name, category_id) SELECT 'Pet ' || n, (SELECT max(id) FROM categories) FROM generate_series(1, ${PETS}) n`,
  `INSERT INTO inventory (pet_id, stock) SELECT id, 100 FROM pets ON CONFLICT DO NOTHING`,
  `INSERT INTO events (time, id, type, pet_id, data)
   SELECT now(), md5(n::text)::uuid, 'pet.updated', n, ${EVENT} FROM generate_series(1, ${EVENTS}) n`,
  'VACUUM ANALYZE',
];
const PEER_FILLING = [
  `INSERT INTO categories (name) VALUES ('Filling')`,
  `INSERT INTO pets (name, category_id, status)
   SELECT 'Pet ' || n, (SELECT max(id) FROM categories), 'available' FROM generate_series(1, ${PETS}) n`,
  `INSERT INTO inventory SELECT id, 100 FROM pets ON CONFLICT DO NOTHING`,
  `INSERT INTO events (type, pet_id, data) SELECT 'pet.updated', n, ${EVENT} FROM generate_series(1, ${EVENTS}) n`,
  'VACUUM ANALYZE',
];

await runToEnd(async () => {
  const contenders = [await prepareService(), await preparePeer()];
  for (const name of only) await compare(name, contenders);
});

async function prepareService() {
  const settings = { WEBHOOK_NETWORKS: '127.0.0.0/8', WEBHOOK_KEY: Buffer.alloc(32, 1).toString('base64') };
  const service = await startService('service', settings);
  const keys = [service.apiKey];
  while (only.includes('waiting') && keys.length < WAITING_CLIENTS) {
    keys.push(await service.newKey(`waiting-${keys.length}`));
  }
  let webhook;
  return Object.assign(service, {
    keys,
    filling: SERVICE_FILLING,
    importFile: (file) => service.admin('import', '--yes', file),
    async subscribe(url) {
      webhook = (await call(service, 'POST', '/webhooks', { url, types: ['pet.created'] })).data;
      await service.stop();
    },
    async deliver(instances) {
      const start = () => serve(service.program, service.environment);
      const [instance, ...others] = await Promise.all(Array.from({ length: instances }, start));
      Object.assign(service, instance);
      return async () => {
        await call(service, 'DELETE', `/webhooks/${webhook.id}`);
        for (const { stop } of others) await stop();
      };
    },
  });
}

async function preparePeer() {
  const peer = await startPeer();
  const job = (...args) => run(process.execPath, [PEER_JOBS, ...args], { env: peer.environment });
  let subscription;
  return Object.assign(peer, {
    keys: Array(WAITING_CLIENTS).fill(peer.apiKey),
    filling: PEER_FILLING,
    importFile: (file) => job('import', file),
    async subscribe(url) {
      const [{ last }] = await query(peer, 'SELECT coalesce(max(id), 0) AS last FROM events');
      subscription = [url, last];
    },
    async deliver() {
      const work = job('deliver', ...subscription, EVENTS_TO_DELIVER);
      return () => work;
    },
  });
}

/** Prints the medians of a job. */
async function compare(name, contenders) {
  const seconds = contenders.map(() => []);
  for (let round = 0; round < Number(rounds); round += 1) {
    const order = [...contenders.entries()];
    for (const [index, contender] of round % 2 === 0 ? order : order.toReversed()) {
      seconds[index].push(await JOBS[name].work(contender));
    }
  }
  const [own, their] = seconds.map((all) => median(all));
  console.log(
    `${name.padEnd(18)} ${own.toFixed(3)} and ${their.toFixed(3)} s: ×${(their / own).toFixed(2)} (${JOBS[name].what})`,
  );
}

/** @returns the seconds that the work takes */
async function timed(work) {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1_000;
}

function catalogue(pets) {
  const file = join(folder, `${pets}.ndjson`);
  const lines = [{ kind: 'category', id: 1, name: `Category of ${pets}` }];
  for (let n = 1; n <= pets; n += 1) {
    lines.push({ kind: 'pet', name: `Pet ${n}`, categoryId: 1, quantity: 3 });
  }
  writeFileSync(file, `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`);
  return file;
}

function importPets({ importFile }) {
  const file = catalogue(PETS_OF_IMPORT);
  return timed(() => importFile(file));
}

/** Writes events while no delivery runs. @returns the seconds from the first delivery to the last one */
async function deliverEvents(contender, instances) {
  const received = new Set();
  let startedAt;
  const complete = new EventEmitter();
  const seconds = once(complete, 'complete').then(() => (performance.now() - startedAt) / 1_000);
  const receiver = createServer((request, response) => {
    startedAt ??= performance.now();
    request.resume().once('end', () => {
      response.writeHead(204).end();
      received.add(request.headers['webhook-id']);
      if (received.size === EVENTS_TO_DELIVER) complete.emit('complete');
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  await contender.subscribe(`http://127.0.0.1:${receiver.address().port}/`);
  await contender.importFile(catalogue(EVENTS_TO_DELIVER));
  const end = await contender.deliver(instances);
  await seconds;
  await end();
  receiver.close();
  receiver.closeAllConnections();
  return seconds;
}

/** @returns the seconds from an event until all requests that wait for it are answered */
async function wakeAll(contender) {
  const agent = new Agent({ keepAlive: true });
  const answers = contender.keys.flatMap((key) =>
    Array.from({ length: WAITING_OF_CLIENT }, async () => {
      const asked = get(`${contender.url}/events?cursor=now&wait=30`, {
        agent,
        headers: { 'X-API-Key': key },
      });
      const [response] = await once(asked, 'response');
      const body = (await response.setEncoding('utf8').toArray()).join('');
      if (response.statusCode !== 200 || body === '[]') throw new Error(`${response.statusCode}: ${body}`);
    }),
  );
  // The client cannot see when all requests wait, so it leaves them enough time.
  await sleep(5_000);
  const seconds = await timed(async () => {
    await call(contender, 'POST', '/categories', { name: 'Awaited' });
    await Promise.all(answers);
  });
  agent.destroy();
  return seconds;
}

/** Fills the store if it is empty, and restarts the contender. @returns the seconds that the start takes */
async function startAgain(contender) {
  if (!contender.isFilled) await query(contender, ...contender.filling);
  contender.isFilled = true;
  await contender.stop();
  return timed(async () => Object.assign(contender, await serve(contender.program, contender.environment)));
}
