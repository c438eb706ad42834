import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Runs `docker` with these arguments. @returns its standard output, or throws with its standard error */
export async function docker(...args: string[]): Promise<string> {
  return (await run('docker', args, { env: process.env })).stdout.trim();
}

/** How a command ends that is meant to fail. */
export async function failure(ending: Promise<unknown>): Promise<string> {
  return ending.then(
    () => 'no failure',
    (error: { stderr: string }) => error.stderr,
  );
}

/** Calls the service at this address with this key. */
export function caller(address: string, key = '') {
  return (method: string, path: string, body?: object) =>
    fetch(`http://${address}${path}`, {
      method,
      headers: { 'X-API-Key': key, ...(body && { 'Content-Type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(20_000),
    });
}

export type Call = ReturnType<typeof caller>;

export async function createPet(call: Call): Promise<number> {
  const category = (await (await call('POST', '/categories', { name: 'Dogs' })).json()) as { id: number };
  const answer = await call('POST', '/pets', { name: 'Rex', categoryId: category.id });
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { id: number }).id;
}

export async function untilReady(address: string): Promise<void> {
  const deadline = Date.now() + 60_000;
  const isReady = () =>
    caller(address)('GET', '/health/ready').then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    if (Date.now() > deadline) {
      throw new Error(`${address} did not become ready.`);
    }
    await pause(200);
  }
}
