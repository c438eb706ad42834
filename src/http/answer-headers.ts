import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { deprecationHeadersOf } from '#libs/deprecation';
import { RequestLimiter } from '../modules/quotas';

/** The header fields that every answer owes, whatever it says: where the caller's limits stand, and how long the operation lasts. */
@Injectable()
export class AnswerHeaders {
  constructor(private readonly limiter: RequestLimiter) {}

  /** Called once, when the answer's status is known: what is refunded depends on it. */
  write(request: FastifyRequest, reply: FastifyReply, status: number): void | Promise<void> {
    const deprecation = deprecationHeadersOf(request);
    if (deprecation) {
      void reply.headers(deprecation);
    }
    const limits = this.limiter.headersFor(request, status);
    if (limits instanceof Promise) {
      return limits.then((fields) => void reply.headers(fields));
    }
    void reply.headers(limits);
  }
}
