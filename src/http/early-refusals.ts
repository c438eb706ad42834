import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { Authenticator } from '../modules/auth';
import { PlanThrottlerGuard, RequestLimiter } from '../modules/quotas';
import { ErrorAnswer } from './error-answer';

/**
 * Refuses whoever is known to be refused when the request arrives: an address over its limit, a banned key. It is the
 * guards' own answer, only sooner: those who do not stop asking should cost as little as can be. All answers of a turn of
 * the event loop are written at its end, one after another: to send one costs the system half as much then.
 */
export function refuseEarly(app: NestFastifyApplication): void {
  const authenticator = app.get(Authenticator);
  const limiter = app.get(RequestLimiter);
  const guard = app.get(PlanThrottlerGuard);
  const answers = app.get(ErrorAnswer);
  const fastify = app.getHttpAdapter().getInstance() as unknown as FastifyInstance;
  fastify.addHook('onRequest', (request, reply, done) => {
    if (!guard.counts(request)) {
      done();
      return;
    }
    authenticator.identifyKnown(request);
    // Asked again now that the caller may be known: some operations are free with a valid key.
    const refusal = request.caller && guard.counts(request) ? limiter.knownRefusal(request) : null;
    if (refusal === null) {
      done();
      return;
    }
    const send = async () => answers.send(refusal, request, reply);
    setImmediate(() => void send().catch(done));
  });
}
