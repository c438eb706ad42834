import { hash } from 'node:crypto';
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Observable, catchError, finalize, tap } from 'rxjs';
import { CommandExecutor, type CommandSource } from '#libs/database';
import { ApiError, ValidationFailedError, composed, headerValuesOf } from '#libs/http';
import { apiKeyOf } from '../auth';
import { IdempotencyInProgressError, IdempotentRequest, type Outcome } from './idempotent-request';

/**
 * Makes an operation safe to retry: a request with an `Idempotency-Key` takes effect once
 * (draft-ietf-httpapi-idempotency-key-header).
 */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor<object, object> {
  /**
   * Client ids and idempotency keys of the requests that this process is handling. A second request with the same key is
   * refused with 409. If another process is handling the first request, a lock in the database leads to the same 409. Within
   * one process, this lock is not enough: the second command would wait in the queue until the first one has committed, and
   * would then return the stored response instead of the 409.
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
    const idempotent = new IdempotentRequest(`${clientId} ${key}`, fingerprint, reply.statusCode, isSame);
    if (this.running.has(idempotent.name)) {
      throw new IdempotencyInProgressError();
    }
    this.running.add(idempotent.name);
    let outcome: 'refused before the command' | Outcome = 'refused before the command';
    const report = (reported: Outcome) => {
      outcome = reported;
    };
    const source: CommandSource = {
      callerId: clientId,
      wrap: (command) => idempotent.wrap(command, report),
    };
    request.commandSource = source;
    const markReplay = () => {
      if (outcome === 'replayed') void reply.header('Idempotent-Replayed', 'true');
    };
    return next.handle().pipe(
      catchError((error: unknown) => {
        if (outcome === 'refused before the command' && error instanceof ApiError) {
          return this.replayOrRethrow(error, source);
        }
        throw error;
      }),
      // Mark an error as replayed only if it is an ApiError, because a stored response is never another error. Another
      // error, for example a failure of the database, replaces the stored response that was to be sent.
      tap({ next: markReplay, error: (error: unknown) => error instanceof ApiError && markReplay() }),
      finalize(() => this.running.delete(idempotent.name)),
    );
  }

  /**
   * Handles the error of a request that was refused before its handler sent a command. If the idempotency key was used
   * before, the caller gets the stored response, or a 422 if the earlier request was a different one. Otherwise, the
   * caller gets the error.
   */
  private replayOrRethrow(error: ApiError, source: CommandSource): Promise<object> {
    const decide = (): object => {
      throw error;
    };
    return this.commands.execute(source, { needs: [], decide });
  }
}

function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const key = request.headers['idempotency-key'] as string | undefined;
  // Count the fields, because Node joins repeated fields with ", ", and a single key may contain this text as well.
  if (headerValuesOf(request.raw, 'idempotency-key').length > 1) {
    throw new ValidationFailedError('Idempotency-Key must be given once.');
  }
  if (key !== undefined && !/^[\x20-\x7e]{1,255}$/.test(key)) {
    throw new ValidationFailedError('Idempotency-Key must be 1 to 255 printable ASCII characters.');
  }
  return key;
}

/**
 * Returns a digest of the operation, the path parameters and the JSON body. The digest does not depend on the spelling
 * of the URL or of the JSON.
 */
function fingerprintOf(request: FastifyRequest): string {
  return digestOf(request, composedInOrder);
}

/**
 * Returns the fingerprint that earlier versions of the service stored for the request. These versions did not convert
 * the name of a pet or category to Unicode's composed form. This function is needed until 24 hours after the upgrade from
 * such a version, because its records expire then.
 */
function earlierFingerprintOf(request: FastifyRequest): string {
  return digestOf(request, inOrder);
}

function digestOf(request: FastifyRequest, replacer: Replacer): string {
  const { method, params, body } = request;
  const value = body === undefined ? '' : jsonOf(body, replacer);
  const text = `${method} ${request.routeOptions.url} ${JSON.stringify(params)}\n${value}`;
  return hash('sha256', text, 'base64url');
}

type Replacer = (name: string, value: unknown) => unknown;

function jsonOf(body: unknown, replacer: Replacer): string {
  try {
    return JSON.stringify(body, replacer);
  } catch {
    // `JSON.stringify` throws an error for thousands of nested arrays, which `JSON.parse` accepts.
    throw new ValidationFailedError('The body is nested too deeply.');
  }
}

/** Makes `JSON.stringify` sort the properties of objects, and convert names to Unicode's composed form. */
function composedInOrder(name: string, value: unknown): unknown {
  return name === 'name' && typeof value === 'string' ? composed(value) : inOrder(name, value);
}

/** Makes `JSON.stringify` sort the properties of objects. */
function inOrder(_name: string, value: unknown): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;
}
