import cluster from 'node:cluster';
import { existsSync } from 'node:fs';
import { loadEnvFile } from 'node:process';
import { usableCores } from '#libs/config';
import type { Settings } from '../settings';

/** Adds the variables of `.env` in the working directory; those that are set already win. */
export function loadEnvironmentFile(): void {
  if (existsSync('.env')) {
    loadEnvFile('.env');
  }
}

/**
 * Runs the service: in this process, or with several workers in processes that this one starts. Drivers are traced as
 * they are loaded, so tracing comes before the service; without a collector it is not loaded.
 */
export async function start(settings: Settings): Promise<void> {
  const workers = settings.workers === 'auto' ? usableCores() : settings.workers;
  if (workers > 1 && cluster.isPrimary) {
    const { serveWithWorkers } = await import('./workers/index.js');
    await serveWithWorkers(settings, workers);
    return;
  }
  const tracing =
    settings.tracesUrl === undefined ? undefined : (await import('./tracing/index.js')).startTracing();
  const { serve } = await import('./serve.js');
  await serve(settings, tracing);
}
