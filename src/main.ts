import 'reflect-metadata';
import cluster from 'node:cluster';
import { EnvironmentError, loadEnvironmentFile } from './runtime/environment';
import { listenToStopSignals } from './runtime/stop-signals';
import { readSettings, settingNames } from './settings';

const signals = listenToStopSignals();

/**
 * The server's entry point. Settings are read first, so that an invalid one fails before the rest is loaded. Tracing starts
 * next, because it instruments drivers while they are loaded; without a collector it is not loaded.
 */
async function main(): Promise<void> {
  loadEnvironmentFile(settingNames());
  const settings = readSettings(process.env);
  // How many processes answer requests beside this one.
  const workers = cluster.isPrimary && settings.workers > 1 ? settings.workers : 0;
  if (workers > 0 && settings.redisUrl === undefined) {
    const expected = 'more than 1 only with REDIS_URL, where they share the limits';
    throw new EnvironmentError('WORKERS', expected, String(workers));
  }
  const tracing =
    workers > 0 || settings.tracesUrl === undefined
      ? undefined
      : (await import('./runtime/tracing.js')).startTracing();
  const { serve } = await import('./runtime/serve.js');
  await serve(settings, workers, signals, tracing);
}

async function fail(error: unknown): Promise<never> {
  const { ReportedStartError, describeFailure } = await import('./runtime/failures.js');
  if (!(error instanceof ReportedStartError)) {
    process.stderr.write(describeFailure(error));
  }
  process.exit(1);
}

main().then(() => process.exit(0), fail);
