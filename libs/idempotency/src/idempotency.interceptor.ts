import {
  type CallHandler,
  type ExecutionContext,
  Inject,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Observable, from, lastValueFrom } from 'rxjs';
import { Database, type Transaction } from '#libs/database';
import { ApiError, type ErrorBody } from '#libs/errors';
import { ValidationFailedError } from '#libs/http';
import {
  IdempotencyRecords,
  type IdempotentUse,
  type KeptAnswer,
  fingerprintOf,
} from './idempotency-records';

/** Tells whose Idempotency-Key a request carries; answered by the application, which knows its callers. */
export abstract class IdempotencyOwner {
  abstract of(request: FastifyRequest): number;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The transaction that keeps the answer of a request with an Idempotency-Key; absent without one. */
    idempotencyTransaction?: Transaction;
  }
}

/** True for answers which say nothing of the request itself, so that it may be tried again with the same key. */
export function isNotKept(status: number): boolean {
  return status === 401 || status === 403 || status === 429 || status >= 500;
}

/**
 * Makes an operation safe to retry: a request with an `Idempotency-Key` runs once, and what it answered is kept in the
 * same transaction as what it changed. Source: draft-ietf-httpapi-idempotency-key-header.
 */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor<object, object> {
  constructor(
    private readonly database: Database,
    private readonly records: IdempotencyRecords,
    @Inject(IdempotencyOwner) private readonly owner: IdempotencyOwner,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler<object>): Observable<object> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    const key = keyOf(request);
    if (key === undefined) {
      return next.handle();
    }
    const fingerprint = fingerprintOf(request.method, request.url, request.rawBody ?? Buffer.alloc(0));
    return from(this.answerOnce({ owner: this.owner.of(request), key, fingerprint }, request, reply, next));
  }

  private async answerOnce(
    use: IdempotentUse,
    request: FastifyRequest,
    reply: FastifyReply,
    next: CallHandler<object>,
  ): Promise<object> {
    const answer = await this.database.transaction(async (transaction) => {
      const kept = await this.records.claim(transaction, use);
      if (kept) {
        void reply.header('Idempotent-Replayed', 'true');
        return kept;
      }
      request.idempotencyTransaction = transaction;
      const first = await this.runOnce(transaction, reply, next);
      await this.records.keep(transaction, use, first);
      return first;
    });
    if (answer.status >= 400) {
      const { code, status, message } = answer.body as ErrorBody;
      throw new ApiError(code, status, message);
    }
    return answer.body;
  }

  /** A refusal takes back what the operation did until then, and is kept as its answer. */
  private async runOnce(
    transaction: Transaction,
    reply: FastifyReply,
    next: CallHandler<object>,
  ): Promise<KeptAnswer> {
    await transaction.query('SAVEPOINT operation');
    try {
      const body = await lastValueFrom(next.handle());
      return { status: reply.statusCode, body };
    } catch (error) {
      if (!(error instanceof ApiError) || isNotKept(error.status)) {
        throw error;
      }
      await transaction.query('ROLLBACK TO SAVEPOINT operation');
      return { status: error.status, body: error.toBody() };
    }
  }
}

function keyOf(request: FastifyRequest): string | undefined {
  const key = request.headers['idempotency-key'];
  const fields = key === undefined ? 0 : request.raw.headersDistinct['idempotency-key']?.length;
  // Node joins the fields of a name that stands twice into one, which neither of them was.
  if (key !== undefined && (typeof key !== 'string' || fields !== 1 || !/^[\x20-\x7e]{1,255}$/.test(key))) {
    throw new ValidationFailedError('Idempotency-Key must be 1 to 255 printable ASCII characters.');
  }
  return key;
}
