import cluster from 'node:cluster';
import { existsSync } from 'node:fs';
import { loadEnvFile } from 'node:process';
import { usableCores } from './usable-cores';
import type { Settings } from '../settings';

/** Adds the variables of `.env` in the working directory; variables that are set already take precedence. */
export function loadEnvironmentFile(): void {
  if (existsSync('.env')) {
    loadEnvFile('.env');
  }
}

/**
 * Runs the service in this process, or in several workers that this process starts. Tracing starts first, because it
 * instruments drivers while they are loaded; without a collector it is not loaded.
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
