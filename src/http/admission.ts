import { Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import type { ApiError } from '#libs/errors';
import { Authenticator } from '../modules/auth';
import { RequestLimiter, countingRuleOf } from '../modules/quotas';
import { isPreflight } from './cors';

/**
 * Identifies and counts every request, once, when it arrives: whatever it asks for and however it fails later. Nobody
 * is refused here. The caller (`request.caller`) and the verdict of the limits (`request.verdict`) travel with the
 * request: guards act on them, the interceptor and the exception filter report them.
 */
@Injectable()
export class Admission {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly limiter: RequestLimiter,
  ) {}

  /** Call it before any hook is added that refuses requests. */
  watch(fastify: FastifyInstance): void {
    fastify.addHook('onRequest', (request, _reply, done) => this.admit(request, done));
  }

  /** Counts malformed HTTP, which never became a request, for its address. */
  admitAddress(address: string): ReturnType<RequestLimiter['takeAddress']> {
    return this.limiter.takeAddress(address);
  }

  // Callbacks instead of promises where the result is known at once: this runs for every request.
  private admit(request: FastifyRequest, done: HookHandlerDoneFunction): void {
    const rule = countingRuleOf(request);
    if (rule === 'never' || isPreflight(request)) {
      done();
      return;
    }
    const count = (): void => {
      if (rule === 'without a valid key' && request.caller?.holder) {
        done();
        return;
      }
      const refusal = this.limiter.take(request);
      if (refusal instanceof Promise) {
        refusal.then((late) => goOn(late, done), done);
      } else {
        goOn(refusal, done);
      }
    };
    const identified = this.authenticator.identify(request);
    if (identified instanceof Promise) {
      identified.then(count).catch(done);
    } else {
      count();
    }
  }
}

/**
 * Refusals of one turn of the event loop are answered at its end, one after another: to send one costs the system half
 * as much then, and those who do not stop asking should cost as little as possible.
 */
function goOn(refusal: ApiError | null, done: HookHandlerDoneFunction): void {
  if (refusal === null) {
    done();
  } else {
    setImmediate(done);
  }
}
