import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { deprecationHeadersOf } from '#libs/http';
import { RequestLimiter } from '../modules/quotas';

/** The header fields of every response: the caller's limits, and the deprecation of the operation. */
@Injectable()
export class AnswerHeaders {
  constructor(private readonly limiter: RequestLimiter) {}

  /** Call it once, when the status is known: the status decides whether the request is refunded. */
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
