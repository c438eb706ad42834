import { setTimeout as pause } from 'node:timers/promises';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from 'pino';
import type { Connections } from '#libs/http';
import { EventTail } from '../modules/events';
import { Readiness } from './health';
import type { StopSignals } from './stop-signals';

/** How long open requests may take once the service has stopped listening. */
const DRAIN_MS = 25_000;
/** How long the rest of the work may take after a second signal. */
const HURRY_MS = 2_000;

export interface RunningService {
  app: NestFastifyApplication;
  connections: Connections;
}

/**
 * Stops a service without losing requests. First `/health/ready` reports 503 while everything is still served for
 * `delayMs`, until load balancers have noticed. Then it stops listening, finishes open requests and writes buffered
 * data. A second signal skips the waits.
 */
export async function shutDown(
  { app, connections }: RunningService,
  signals: StopSignals,
  delayMs: number,
  logger: Logger,
): Promise<void> {
  app.get(Readiness).end();
  connections.announceEnd();
  let patienceMs = DRAIN_MS;
  void signals.second.then((signal) => {
    logger.warn(`${signal} again: stopping immediately`);
    patienceMs = 0;
    connections.destroyAll();
    setTimeout(() => process.exit(1), HURRY_MS).unref();
  });
  await Promise.race([pause(delayMs), signals.second]);
  // Requests that wait for events are answered now; their callers continue with another instance.
  app.get(EventTail).end();
  await connections.end(patienceMs);
  await app.close();
}
