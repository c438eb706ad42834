import 'reflect-metadata';
import { loadEnvironmentFile } from './runtime/environment-file';
import { start } from './runtime/start';
import { readSettings } from './settings';

/** The server's entry point. Settings are read first, so that an invalid one fails before the rest is loaded. */
async function main(): Promise<void> {
  loadEnvironmentFile();
  const settings = readSettings(process.env);
  await start(settings);
}

async function fail(error: unknown): Promise<never> {
  const { reportFailure } = await import('./runtime/failures.js');
  return reportFailure(error);
}

main().then(() => process.exit(0), fail);
