import { Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import type { ApiError } from '#libs/http';
import { Authenticator } from '../modules/auth';
import { RequestLimiter, noteSkipped } from '../modules/quotas';

/**
 * Identifies and counts every request once, when it arrives: whatever it requests and however it fails later. It
 * rejects nothing. The caller (`request.caller`) and the verdict of the limits (`request.verdict`) travel with the
 * request: guards act on them; the interceptor and the exception filter report them.
 */
@Injectable()
export class Admission {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly limiter: RequestLimiter,
  ) {}

  /** Call it before adding any route, and any hook that rejects requests. */
  watch(fastify: FastifyInstance): void {
    fastify.addHook('onRoute', noteSkipped);
    fastify.addHook('onRequest', (request, _reply, done) => this.admit(request, done));
  }

  // Callbacks instead of promises if the result is available immediately: this runs for every request.
  private admit(request: FastifyRequest, done: HookHandlerDoneFunction): void {
    const rule = this.limiter.ruleOf(request);
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
 * Answers the refusals of one turn of the event loop together at its end. Sending each then costs the system half as
 * much, and refusals should be as cheap as possible.
 */
function goOn(refusal: ApiError | null, done: HookHandlerDoneFunction): void {
  if (refusal === null) {
    done();
  } else {
    setImmediate(done);
  }
}

/** An OPTIONS request with these two header fields, as the Fetch standard defines it. */
export function isPreflight({ method, headers }: FastifyRequest): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}
