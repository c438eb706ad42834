import 'reflect-metadata';
import cluster from 'node:cluster';
import { setFlagsFromString } from 'node:v8';
import { describeFailure, failureSettings } from '#libs/messages';
import { readServiceSettings, settingNames } from './all-settings';
import { loadEnvironmentFile, removeDriverVariables } from './settings/environment';
import { listenToStopSignals } from './runtime/stop-signals';

const signals = listenToStopSignals();
failureSettings.programName = 'petstore';

/** Makes the heap grow in smaller steps, so that floods of requests take less memory. */
setFlagsFromString('--heap-growing-percent=40');

/**
 * Reads the settings first, so that an invalid setting is reported at once. Starts tracing before the drivers are
 * loaded, because only later loads are traced.
 */
async function main(): Promise<void> {
  removeDriverVariables(process.env);
  if (cluster.isPrimary) {
    loadEnvironmentFile(settingNames());
  }
  const settings = readServiceSettings(process.env);
  const workers = cluster.isPrimary && settings.workers > 1 ? settings.workers : 0;
  const { openLog } = await import('./runtime/logging.js');
  const logger = await openLog(settings.logLevel);
  const tracing =
    workers > 0 || settings.tracesUrl === undefined
      ? undefined
      : (await import('./runtime/tracing.js')).startTracing(logger);
  const { serve } = await import('./runtime/serve.js');
  await serve({ settings, workers, logger, tracing, signals });
}

async function fail(error: unknown): Promise<never> {
  const { ReportedStartError, explain } = await import('./runtime/failures.js');
  if (!(error instanceof ReportedStartError)) {
    failureSettings.explain = explain;
    process.stderr.write(describeFailure(error));
  }
  process.exit(1);
}

// Do not let Node print the error with all fields of the error, because a database error can contain data of rows.
process.on('uncaughtException', (error) => {
  fail(error).catch(() => process.exit(1));
});
main().then(() => process.exit(0), fail);
