import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../support/redis-server';
import type { Contender } from '../contenders';
import type { CleanUp } from './clean-up';
import { AGE, type Databases, FEW_PETS, type Keys, run } from './databases';
import { putAway } from './delay';
import { Program, cleanEnvironment } from './program';

const START_MS = 60_000;
const POLL_MS = 50;
/** The same for everybody; the service's own default. */
const CONNECTIONS_TO_DATABASE = '10';

/** What a run has, and its contenders share. */
export interface Surroundings {
  folder: string;
  databases: Databases;
  redisUrl: string | undefined;
  logLevel: string;
  /** How many pets are many. */
  manyPets: number;
  /** How far away the database is, in milliseconds; 0 for right here. */
  delayMs: number;
  signal: AbortSignal;
}

export interface RunningContender extends Contender, Keys {
  url: string;
  pid: number;
  pets: number;
  databaseUrl: string;
  /** Where the service tells of itself. */
  metricsUrl: string;
  signal: AbortSignal;
}

/** Starts a contender on a free port over a fresh database, and waits until it answers. */
export async function startContender(
  contender: Contender,
  { folder, databases, redisUrl, logLevel, manyPets, delayMs, signal }: Surroundings,
  cleanUp: CleanUp,
): Promise<RunningContender> {
  const port = await freePort();
  const metricsPort = await freePort();
  const pets = contender.aged ? AGE.from : contender.hasManyPets ? manyPets : FEW_PETS;
  const { databaseUrl, ...keys } = await databases.create(cleanUp, contender.petstore, pets);
  if (contender.aged) {
    await run(databaseUrl, AGE.before);
  }
  const env = cleanEnvironment({
    HOST: '127.0.0.1',
    PORT: String(port),
    METRICS_PORT: String(metricsPort),
    LOG_LEVEL: logLevel,
    DATABASE_URL: delayMs > 0 ? await putAway(databaseUrl, delayMs, cleanUp) : databaseUrl,
    DATABASE_POOL: CONNECTIONS_TO_DATABASE,
    ...(contender.needsRedis && redisUrl ? { REDIS_URL: redisUrl } : {}),
  });
  const errors = join(folder, `${contender.name}-${port}.log`);
  const descriptor = openSync(errors, 'w');
  // Log lines are formatted and written as ever, but nobody has to read or to keep them.
  const program = new Program(contender.args, { cwd: folder, env, stdio: ['ignore', 'ignore', descriptor] });
  closeSync(descriptor);
  cleanUp.add(() => program.end());
  const url = `http://127.0.0.1:${port}`;
  await answering(url, program, signal, () => `${contender.title}: ${readFileSync(errors, 'utf8').trim()}`);
  const metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
  return { ...contender, ...keys, url, pid: program.pid!, pets, databaseUrl, metricsUrl, signal };
}

async function answering(
  url: string,
  program: Program,
  signal: AbortSignal,
  complaint: () => string,
): Promise<void> {
  const deadline = Date.now() + START_MS;
  while (!(await isUp(url, signal))) {
    signal.throwIfAborted();
    if (program.hasEnded || Date.now() > deadline) {
      throw new Error(`${program.hasEnded ? 'ended instead of starting' : 'did not start'}: ${complaint()}`);
    }
    await sleep(POLL_MS, undefined, { signal });
  }
}

async function isUp(url: string, signal: AbortSignal): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/health/live`, { signal });
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    return false;
  }
}
