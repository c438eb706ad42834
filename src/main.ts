import 'reflect-metadata';
import { loadEnvironmentFile } from './environment-file';
import { reportFailure } from './failures';
import { serve } from './serve';
import { readSettings } from './settings';

/** The HTTP door. */
async function main(): Promise<void> {
  loadEnvironmentFile();
  await serve(readSettings(process.env));
}

main().then(() => process.exit(0), reportFailure);
