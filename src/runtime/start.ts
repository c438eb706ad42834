import cluster from 'node:cluster';
import { usableCores } from './usable-cores';
import type { Settings } from '../settings';

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
