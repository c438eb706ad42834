import { existsSync } from 'node:fs';
import { loadEnvFile } from 'node:process';

/** Adds the variables of `.env` in the working directory; those that are set already win. */
export function loadEnvironmentFile(): void {
  if (existsSync('.env')) {
    loadEnvFile('.env');
  }
}
