import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { blocksOf, readGuide } from '../../support/guide-steps';
import { until } from '../../support/eventually';
import { freePort } from '../../support/redis-server';
import { useStore } from '../../support/use-service';

const ROOT = resolve(__dirname, '../../..');
const { service, caller, arrange } = useStore();
let project: string;
let child: ChildProcess | undefined;
let output = '';

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'petstore-receiver-'));
  mkdirSync(join(project, 'node_modules/@petstore'), { recursive: true });
  for (const name of ['@types', 'undici-types']) {
    symlinkSync(join(ROOT, 'node_modules', name), join(project, 'node_modules', name));
  }
  const target = join(project, 'node_modules/@petstore/client');
  execFileSync(process.execPath, [join(ROOT, 'libs/client/scripts/build.mjs'), target], { cwd: project });
  const [receiver] = blocksOf(readGuide('webhooks')).filter(({ language }) => language === 'js');
  writeFileSync(join(project, 'receiver.mjs'), receiver!.text);
});

afterAll(() => {
  child?.kill('SIGKILL');
  rmSync(project, { recursive: true, force: true });
});

async function isUp(url: string): Promise<boolean> {
  return fetch(url, { method: 'POST' }).then(
    () => true,
    () => false,
  );
}

it('The receiver of the guide, run as written, accepts signed deliveries and rejects all others', async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const { body } = await caller.post('/webhooks', { url, types: ['pet.created'] });
  const webhook = body as { id: number; secret: string };
  child = spawn(process.execPath, ['receiver.mjs'], {
    cwd: project,
    env: { PATH: process.env.PATH, PORT: String(port), WEBHOOK_SECRET: webhook.secret },
  });
  child.stdout!.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr!.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await until(() => isUp(url));
  const headers = { 'webhook-id': 'evt_1', 'webhook-timestamp': String(Math.floor(Date.now() / 1_000)) };
  const forged = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'webhook-signature': 'v1,AAAA' },
    body: '{"id":"evt_1","type":"pet.created","data":{}}',
  });
  expect(forged.status).toBe(400);
  // The receiver has the system's clock, and refuses what is older than five minutes by it.
  service.clock.set(Date.now());
  const pet = await arrange.pet();
  await until(() => output !== '');
  expect(output).toBe(`pet.created ${JSON.stringify(pet)}\n`);
});
