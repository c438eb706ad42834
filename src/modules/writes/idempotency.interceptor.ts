import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Observable, catchError, finalize, tap } from 'rxjs';
import { CommandExecutor, type CommandSource } from '#libs/database';
import { ApiError } from '#libs/http';
import { apiKeyOf } from '../auth';
import { earlierFingerprintOf, fingerprintOf, idempotencyKeyOf } from './idempotency-key';
import { IdempotencyInProgressError, KeyedRequest } from './keyed-request';

/**
 * Makes an operation safe to retry: a request with an `Idempotency-Key` takes effect once
 * (draft-ietf-httpapi-idempotency-key-header).
 */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor<object, object> {
  /**
   * Client ids and idempotency keys of the requests that this process is handling. A second request with the same key is
   * refused. If another process is handling the first request, a lock in the database leads to the same refusal.
   */
  private readonly running = new Set<string>();

  constructor(private readonly commands: CommandExecutor) {}

  intercept(context: ExecutionContext, next: CallHandler<object>): Observable<object> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const key = idempotencyKeyOf(request);
    if (key === undefined) {
      return next.handle();
    }
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    const { clientId } = apiKeyOf(request);
    const fingerprint = fingerprintOf(request);
    const isSame = (kept: string) => kept === fingerprint || kept === earlierFingerprintOf(request);
    const keyed = new KeyedRequest(`${clientId} ${key}`, fingerprint, reply.statusCode, isSame);
    if (this.running.has(keyed.name)) {
      throw new IdempotencyInProgressError();
    }
    this.running.add(keyed.name);
    const source: CommandSource = { callerId: clientId, wrap: (command) => keyed.once(command) };
    request.commandSource = source;
    const report = () => {
      if (keyed.isReplayed) void reply.header('Idempotent-Replayed', 'true');
    };
    // Only an ApiError can come from a stored response, so send no `Idempotent-Replayed` with other errors.
    const reportRefusal = (error: unknown) => {
      if (error instanceof ApiError) report();
    };
    return next.handle().pipe(
      catchError((error: unknown) => this.refuse(error, keyed, source)),
      tap({ next: report, error: reportRefusal }),
      finalize(() => this.running.delete(keyed.name)),
    );
  }

  /**
   * Handles the error of a request that was refused before its command ran, for example because of an invalid body. The
   * idempotency key may have been used before. If so, the caller gets the stored response, or a 422 if the earlier
   * request was a different one. Otherwise, the caller gets the error.
   */
  private refuse(error: unknown, keyed: KeyedRequest, source: CommandSource): Promise<object> {
    if (keyed.isSent || !(error instanceof ApiError)) {
      throw error;
    }
    const decide = (): object => {
      throw error;
    };
    return this.commands.execute(source, { needs: [], decide });
  }
}
