import type { Settings } from '../settings';

/** Runs the service. Drivers are traced as they are loaded, so tracing comes before the service; without a collector it is not loaded. */
export async function start(settings: Settings): Promise<void> {
  const tracing =
    settings.tracesUrl === undefined ? undefined : (await import('./tracing/index.js')).startTracing();
  const { serve } = await import('./serve.js');
  await serve(settings, tracing);
}
