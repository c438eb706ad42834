import 'reflect-metadata';
import cluster from 'node:cluster';
import { EnvironmentError, loadEnvironmentFile } from './runtime/environment';
import { type Settings, readSettings, settingNames } from './settings';

/**
 * The server's entry point. Settings are read first, so that an invalid one fails before the rest is loaded. Tracing starts
 * next, because it instruments drivers while they are loaded; without a collector it is not loaded.
 */
async function main(): Promise<void> {
  loadEnvironmentFile(settingNames());
  const settings = readSettings(process.env);
  const workers = cluster.isPrimary ? workersOf(settings) : 0;
  const tracing =
    workers > 0 || settings.tracesUrl === undefined
      ? undefined
      : (await import('./runtime/tracing.js')).startTracing();
  const { serve } = await import('./runtime/serve.js');
  await serve(settings, workers, tracing);
}

/** How many processes answer requests beside this one. @throws EnvironmentError if nothing would share their limits */
function workersOf({ workers, redisUrl }: Settings): number {
  if (workers > 1 && redisUrl === undefined) {
    throw new EnvironmentError(
      'WORKERS',
      'more than 1 only with REDIS_URL, where they share the limits',
      String(workers),
    );
  }
  return workers > 1 ? workers : 0;
}

async function fail(error: unknown): Promise<never> {
  const { reportFailure } = await import('./runtime/failures.js');
  return reportFailure(error);
}

main().then(() => process.exit(0), fail);
