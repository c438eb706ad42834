// How many deliveries a second one instance makes to one local receiver: node test/bench/run.js test/bench/webhooks.ts [events]
// It needs the build (node bin/build.js). The service, its embedded PostgreSQL, the receiver and this program share the machine.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const ROOT = join(__dirname, '../..');
const EVENTS = Number(process.argv[2] ?? 10_000);
/** Writers at the same time. */
const WRITERS = 32;
/** It only ends a hang. */
const PATIENCE_MS = 300_000;

const folder = mkdtempSync(join(tmpdir(), 'petstore-webhooks-'));
const environment = {
  PATH: process.env.PATH,
  DATA_DIR: join(folder, 'store'),
  PORT: '0',
  METRICS_PORT: 'off',
  LOG_LEVEL: 'warn',
  WEBHOOK_NETWORKS: '127.0.0.0/8',
};

interface Receiver {
  url: string;
  /** Until then no request is answered, so that deliveries wait. */
  open: () => void;
  received: () => number;
}

function startReceiver(): Promise<Receiver> {
  let count = 0;
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      void opened.then(() => {
        count += 1;
        response.writeHead(204).end();
      });
    });
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      resolve({ url: `http://127.0.0.1:${port}/`, open, received: () => count });
    });
  });
}

async function startService(): Promise<{ service: ChildProcess; url: string }> {
  const service = spawn(process.execPath, [join(ROOT, 'bin/petstore.js'), 'serve'], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  service.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  while (!output.includes('/openapi.json')) {
    await sleep(100);
  }
  return { service, url: /Service +(\S+)/.exec(output)![1]! };
}

function petstore(...args: string[]): { key: string } {
  const all = [join(ROOT, 'bin/petstore.js'), ...args, '--json'];
  return JSON.parse(execFileSync(process.execPath, all, { env: environment, encoding: 'utf8' })) as {
    key: string;
  };
}

async function main(): Promise<void> {
  const receiver = await startReceiver();
  const { service, url } = await startService();
  try {
    const most = '100000000';
    petstore(
      'clients',
      'create',
      '--name',
      'bench',
      '--plan',
      'enterprise',
      '--per-minute',
      most,
      '--per-day',
      most,
    );
    const { key } = petstore('keys', 'issue', '--client', 'bench');
    const send = (path: string, body: object) =>
      fetch(`${url}${path}`, {
        method: 'POST',
        headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      }).then((response) => response.text());
    await send('/webhooks', { url: receiver.url });
    let begun = 0;
    const writer = async (): Promise<void> => {
      while (begun < EVENTS) {
        await send('/categories', { name: `Category ${(begun += 1)}` });
      }
    };
    await Promise.all(Array.from({ length: WRITERS }, writer));
    const since = performance.now();
    receiver.open();
    while (receiver.received() < EVENTS && performance.now() - since < PATIENCE_MS) {
      await sleep(5);
    }
    const seconds = (performance.now() - since) / 1_000;
    const received = receiver.received();
    process.stdout.write(
      `${received} deliveries in ${seconds.toFixed(2)} s: ${Math.round(received / seconds)} a second.\n`,
    );
  } finally {
    service.kill('SIGTERM');
    await new Promise((resolve) => service.once('exit', resolve));
    rmSync(folder, { recursive: true, force: true });
  }
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exit(1);
  },
);
