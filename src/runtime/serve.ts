import { executionAsyncResource } from 'node:async_hooks';
import cluster from 'node:cluster';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { format } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import type { INestApplicationContext } from '@nestjs/common';
import { FEATURES } from '../features';
import type { Settings } from '../settings';
import { explainAddress } from './failures';
import { createLogger, endLog, terminalLog } from './logging';
import { PETSTORE } from './messages';
import { type OpenDatabase, openDatabase } from './open-database';
import { DEMO_CLIENT, SeedService, type Seeded } from './seed';
import { type Running, Service } from './service';
import type { StopSignals } from './stop-signals';
import type { Tracing } from './tracing';
import { WorkerProcesses } from './worker-processes';

/**
 * V8 forgets a shape that no object has. If a garbage collection finds no waiting `process.nextTick`, each later one defines
 * its object property by property: 8 of a read's 180 µs on Node 20. So one such object lives as long as the process.
 */
const kept: object[] = [];
process.nextTick(() => kept.push(executionAsyncResource()));

/**
 * While the young generation is still small, most objects of requests survive its collections, so V8 would soon allocate
 * their like in the old generation. There they keep others alive until a full collection: a seventh of a page's time. Only
 * code that is compiled later depends on the flag, so it may be set now.
 */
setFlagsFromString('--no-allocation-site-pretenuring');

/**
 * Runs the service until a signal to stop, then finishes open requests and writes buffered data.
 * @param workers the number of worker processes that answer requests; 0 if this process does
 */
export async function serve(
  settings: Settings,
  workers: number,
  signals: StopSignals,
  tracing?: Tracing,
): Promise<void> {
  // A closed output must not stop the service.
  process.stdout.on('error', () => undefined);
  const logContext = tracing && (() => tracing.logContext());
  const logger = createLogger(settings.logLevel, await terminalLog(process.stdout, process.env), logContext);
  // What a library prints, as ioredis does, is a line of the log.
  Object.assign(console, { warn: (...parts: unknown[]) => logger.warn(format(...parts)) });
  tracing?.reportTo((message) => logger.warn(message));
  if (settings.redisUrl !== undefined && settings.instances === 1 && workers === 0) {
    logger.warn('INSTANCES is 1: if Redis fails, every instance allows the full limit.');
  }
  if (cluster.isPrimary) {
    await assertFree('HOST and PORT', { host: settings.host, port: settings.port });
    await assertFree('METRICS_PORT', settings.metrics);
  }
  const ending = new AbortController();
  void signals.first.then(() => ending.abort());
  const opening = openDatabase(settings, (line) => logger.info(line), true, ending.signal);
  const lost = opening.then(async (database) => {
    throw await database.lost;
  });
  let running: Running | undefined;
  let delayMs = 0;
  const begin = async (database: OpenDatabase) => {
    ending.signal.throwIfAborted();
    const complete = FEATURES.reduce((all, { prepare }) => prepare?.(all) ?? all, settings);
    running =
      workers > 0
        ? new WorkerProcesses(complete, database.url, logger, workers)
        : new Service(complete, database.url, logger, tracing);
    let seeded: Seeded | undefined;
    const port = await running.start(async (store) => {
      seeded = database.embedded ? await seedFirstRun(store) : undefined;
    });
    if (cluster.isPrimary) {
      announce({ host: settings.host, port }, seeded);
    }
  };
  try {
    // A start that waits, for example for another instance's migration, can be interrupted too.
    await Promise.race([opening.then(begin), signals.first, lost]);
    logger.info(`${await Promise.race([signals.first, lost])}: stopping`);
    delayMs = settings.shutdownDelaySeconds * 1_000;
  } finally {
    try {
      await running?.stop(signals, delayMs);
    } finally {
      await opening.then(
        (database) => database.close(),
        () => undefined,
      );
      await tracing?.close();
      await endLog(logger);
    }
  }
}

/** Reports an address that is taken before a database is created. The service listens on it later, when it can respond. */
async function assertFree(variables: string, address: Settings['metrics']): Promise<void> {
  if (address !== undefined) {
    const probe = createServer();
    await explainAddress(variables, address, () => once(probe.listen(address), 'listening'));
    await once(probe.close(), 'close');
  }
}

/**
 * Seeds the store at the first start of an embedded database. On a terminal it issues a key; elsewhere a log may keep what is
 * printed, and others may read it.
 */
export async function seedFirstRun(
  store: INestApplicationContext,
  { isTTY }: Pick<NodeJS.WriteStream, 'isTTY'> = process.stdout,
): Promise<Seeded | undefined> {
  const seed = store.get(SeedService);
  return (await seed.isFirstRun()) ? seed.seed(Boolean(isTTY)) : undefined;
}

/** Prints the address of the service, and how to get a key. */
export function announce(
  { host, port }: { host: string; port: number },
  firstRun: Pick<Seeded, 'key'> | undefined,
  output: Pick<NodeJS.WriteStream, 'write'> = process.stdout,
): void {
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const client = firstRun ? DEMO_CLIENT : `<client> (clients: ${PETSTORE} clients list)`;
  const issue = `To get an API key: ${PETSTORE} keys issue --client ${client}`;
  output.write(`
Pet Store is ready.

  Service    ${url}
  Docs       ${url}/docs
  OpenAPI    ${url}/openapi.json

${firstRun?.key ? firstKey(url, firstRun.key) : issue}

`);
}

function firstKey(url: string, key: string): string {
  return `Your first API key, for the client ${DEMO_CLIENT} on the free plan. It is shown only once:

  ${key}

Try it:

  curl -i -H 'X-API-Key: ${key}' '${url}/pets?limit=3'`;
}
