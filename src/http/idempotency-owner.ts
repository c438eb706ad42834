import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { IdempotencyOwner } from '#libs/idempotency';

/** An Idempotency-Key belongs to the client, so that a rotated key can finish what the old one began. */
@Injectable()
export class ClientOwnsIdempotencyKeys extends IdempotencyOwner {
  of(request: FastifyRequest): number {
    // The guards let nobody through to a creating operation without a valid key.
    return request.caller!.holder!.clientId;
  }
}
