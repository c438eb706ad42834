import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiError } from '#libs/errors';
import { AnswerHeaders } from './answer-headers';

/** Writes the Error object, with all header fields that a successful answer would have had. */
@Injectable()
export class ErrorAnswer {
  constructor(private readonly headers: AnswerHeaders) {}

  /** Sends at once where it can; rejects, or throws, when the limits' header fields cannot be had. */
  send(error: ApiError, request: FastifyRequest, reply: FastifyReply): void | Promise<void> {
    const written = this.headers.write(request, reply, error.status);
    return written instanceof Promise ? written.then(() => sendBody(error, reply)) : sendBody(error, reply);
  }
}

function sendBody(error: ApiError, reply: FastifyReply): void {
  void reply
    .status(error.status)
    .headers(error.headers)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(error.toBody()));
}
