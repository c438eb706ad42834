import 'reflect-metadata';
import cluster from 'node:cluster';
import { loadEnvironmentFile } from './runtime/environment-file';
import { usableCores } from './runtime/usable-cores';
import { readSettings } from './settings';

/**
 * The server's entry point. Settings are read first, so that an invalid one fails before the rest is loaded. Tracing starts
 * next, because it instruments drivers while they are loaded; without a collector it is not loaded.
 */
async function main(): Promise<void> {
  loadEnvironmentFile();
  const settings = readSettings(process.env);
  const count = settings.workers === 'auto' ? usableCores() : settings.workers;
  const workers = cluster.isPrimary && count > 1 ? count : 0;
  const tracing =
    workers > 0 || settings.tracesUrl === undefined
      ? undefined
      : (await import('./runtime/tracing.js')).startTracing();
  const { serve } = await import('./runtime/serve.js');
  await serve(settings, workers, tracing);
}

async function fail(error: unknown): Promise<never> {
  const { reportFailure } = await import('./runtime/failures.js');
  return reportFailure(error);
}

main().then(() => process.exit(0), fail);
