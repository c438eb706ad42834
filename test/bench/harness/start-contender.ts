import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../support/eventually';
import { freePort } from '../../support/redis-server';
import { TcpProxy } from '../../support/tcp-proxy';
import type { Contender } from '../contenders';
import type { CleanUp } from './clean-up';
import { AGE, type Databases, FEW_PETS, type Keys, run } from './databases';
import { Program } from './program';

const START_MS = 60_000;
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
  /** Where the service reports about itself. */
  metricsUrl: string;
  signal: AbortSignal;
}

/** Starts a contender on a free port over a fresh database, and waits until it answers. */
export async function startContender(
  contender: Contender,
  { folder, databases, redisUrl, logLevel, manyPets, delayMs, signal }: Surroundings,
  cleanUp: CleanUp,
): Promise<RunningContender> {
  const [port, metricsPort] = [await freePort(), await freePort()];
  const pets = contender.aged ? AGE.from : contender.hasManyPets ? manyPets : FEW_PETS;
  const { databaseUrl, ...keys } = await databases.create(cleanUp, contender.petstore, pets);
  if (contender.aged) {
    await run(databaseUrl, AGE.before);
  }
  const environment = {
    HOST: '127.0.0.1',
    PORT: String(port),
    METRICS_PORT: String(metricsPort),
    LOG_LEVEL: logLevel,
    DATABASE_URL: delayMs > 0 ? await putAway(databaseUrl, delayMs, cleanUp) : databaseUrl,
    DATABASE_POOL: CONNECTIONS_TO_DATABASE,
    ...(contender.needsRedis && redisUrl ? { REDIS_URL: redisUrl } : {}),
    ...contender.environment,
  };
  const errors = join(folder, `${contender.name}-${port}.log`);
  const descriptor = openSync(errors, 'w');
  // Log lines are formatted and written as ever, but nobody has to read or to keep them.
  const program = new Program(contender.args, folder, environment, ['ignore', 'ignore', descriptor]);
  closeSync(descriptor);
  cleanUp.add(() => program.end());
  const url = `http://127.0.0.1:${port}`;
  await until(async () => program.hasEnded || (await isUp(url, signal)), START_MS);
  if (program.hasEnded) {
    throw new Error(`${contender.title} ended instead of starting: ${readFileSync(errors, 'utf8').trim()}`);
  }
  const metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
  return { ...contender, ...keys, url, pid: program.pid!, pets, databaseUrl, metricsUrl, signal };
}

/** Puts a database as many milliseconds away. @returns its address there */
async function putAway(databaseUrl: string, delayMs: number, cleanUp: CleanUp): Promise<string> {
  const proxy = await TcpProxy.start(databaseUrl, delayMs);
  cleanUp.add(() => proxy.close());
  return proxy.url;
}

async function isUp(url: string, signal: AbortSignal): Promise<boolean> {
  signal.throwIfAborted();
  try {
    const answer = await fetch(`${url}/health/live`, { signal });
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    return false;
  }
}
