import 'reflect-metadata';
import { executionAsyncResource } from 'node:async_hooks';
import cluster from 'node:cluster';
import { setFlagsFromString } from 'node:v8';
import { EnvironmentError, loadEnvironmentFile, removeDriverVariables } from './runtime/environment';
import { listenToStopSignals } from './runtime/stop-signals';
import { readSettings, settingNames } from './settings';

const signals = listenToStopSignals();

/** If a garbage collection finds no object of `process.nextTick`, V8 makes all later ones slowly: 8 of a read's 180 µs on Node 20. */
const kept: object[] = [];
process.nextTick(() => kept.push(executionAsyncResource()));

/** Otherwise V8 would allocate objects of requests in the old generation, as most survive at first: a seventh of a page's time. */
setFlagsFromString('--no-allocation-site-pretenuring');

/** Otherwise, on a machine with much memory, a flood of requests could quadruple the heap before V8 frees closed connections. */
setFlagsFromString('--heap-growing-percent=40');

/**
 * Settings are read first, so that an invalid one fails before the rest is loaded. Tracing starts before the drivers are loaded,
 * because it instruments them then.
 */
async function main(): Promise<void> {
  removeDriverVariables(process.env);
  // A worker has the environment of the first process.
  if (cluster.isPrimary) {
    loadEnvironmentFile(settingNames());
  }
  const settings = readSettings(process.env);
  // How many processes answer requests beside this one.
  const workers = cluster.isPrimary && settings.workers > 1 ? settings.workers : 0;
  if (workers > 0 && settings.redisUrl === undefined) {
    const expected = 'more than 1 only with REDIS_URL, where they share the limits';
    throw new EnvironmentError('WORKERS', expected, String(workers));
  }
  const { openLog } = await import('./runtime/logging.js');
  const logger = await openLog(settings.logLevel);
  const tracing =
    workers > 0 || settings.tracesUrl === undefined
      ? undefined
      : (await import('./runtime/tracing.js')).startTracing(logger);
  const { serve } = await import('./runtime/serve.js');
  await serve({ settings, logger, tracing, signals }, workers);
}

async function fail(error: unknown): Promise<never> {
  const { ReportedStartError, describeFailure } = await import('./runtime/failures.js');
  if (!(error instanceof ReportedStartError)) {
    process.stderr.write(describeFailure(error));
  }
  process.exit(1);
}

// Node's own report would show all fields of an error, and some fields of the database's errors repeat rows.
process.on('uncaughtException', (error) => {
  fail(error).catch(() => process.exit(1));
});
main().then(() => process.exit(0), fail);
