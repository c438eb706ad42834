import { hash } from 'node:crypto';
import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  RequestMethod,
  UseInterceptors,
  applyDecorators,
  createParamDecorator,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Observable, catchError, tap } from 'rxjs';
import {
  CommandExecutor,
  type IdempotentUse,
  type KeptResponse,
  KeyInUseError,
  KeyReusedError,
  type Origin,
} from '#libs/database';
import {
  ApiError,
  Documented,
  EachOperation,
  type ErrorBody,
  ValidationFailedError,
  defineError,
} from '#libs/http';
import { clientIdOf } from '../auth';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set for a request with an `Idempotency-Key`. */
    idempotentUse?: IdempotentUse;
  }
}

const IdempotencyInProgressError = defineError({
  code: 'idempotency_in_progress',
  status: 409,
  when: 'The first request with this Idempotency-Key is still running. Try again shortly.',
  message: () => 'The first request with this Idempotency-Key is still running. Try again shortly.',
  example: [],
});

const IdempotencyKeyReusedError = defineError({
  code: 'idempotency_key_reused',
  status: 422,
  when: 'This Idempotency-Key was used for a different request in the last 24 hours.',
  message: () => 'This Idempotency-Key was already used for a different request. Use a new key.',
  example: [],
});

/** Parameter decorator: the Origin of the command that a request sends. */
export const CommandOrigin = createParamDecorator((_data: unknown, context: ExecutionContext): Origin => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  return { owner: clientIdOf(request), use: request.idempotentUse };
});

/**
 * Makes an operation safe to retry: a request with an `Idempotency-Key` runs once, and its response is stored in the
 * transaction of the change. Source: draft-ietf-httpapi-idempotency-key-header.
 */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor<object, object> {
  constructor(private readonly commands: CommandExecutor) {}

  intercept(context: ExecutionContext, next: CallHandler<object>): Observable<object> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const key = keyOf(request);
    if (key === undefined) {
      return next.handle();
    }
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    const use: IdempotentUse = {
      owner: clientIdOf(request),
      key,
      fingerprint: fingerprintOf(request),
      status: reply.statusCode,
      sent: false,
      replayed: false,
      responseTo,
      resultOf,
    };
    request.idempotentUse = use;
    const report = () => use.replayed && void reply.header('Idempotent-Replayed', 'true');
    return next.handle().pipe(
      catchError((error: unknown) => this.refuse(error, use)),
      tap({ next: report, error: report }),
    );
  }

  /** Also stores errors that occurred before a command ran, such as a validation error. */
  private async refuse(error: unknown, use: IdempotentUse): Promise<object> {
    if (use.sent || responseTo(error) === undefined) {
      throw apiErrorOf(error);
    }
    const refusal = {
      needs: [],
      decide: (): object => {
        throw error;
      },
    };
    return this.commands.run(refusal, { owner: use.owner, use }).catch((refused: unknown) => {
      throw apiErrorOf(refused);
    });
  }
}

/** Each POST of the controller supports `Idempotency-Key`. Its handler must run one command with the Origin (`@CommandOrigin()`). */
export function IdempotentPosts(): ClassDecorator {
  const idempotent = applyDecorators(
    UseInterceptors(IdempotencyInterceptor),
    Documented({
      parameters: ['Idempotency-Key'],
      headers: { kept: ['Idempotent-Replayed'] },
      errors: [IdempotencyInProgressError, IdempotencyKeyReusedError],
    }),
  );
  return EachOperation((method) => (method === RequestMethod.POST ? idempotent : undefined));
}

/** Statuses that are not stored: the request may be retried with the same key. */
export function isNotKept(status: number): boolean {
  return status === 401 || status === 403 || status === 429 || status >= 500;
}

function responseTo(error: unknown): KeptResponse | undefined {
  return error instanceof ApiError && !isNotKept(error.status)
    ? { status: error.status, body: error.toBody() }
    : undefined;
}

function resultOf({ status, body }: KeptResponse): object {
  if (status >= 400) {
    const { code, message } = body as ErrorBody;
    throw new ApiError(code, status, message);
  }
  return body;
}

function apiErrorOf(error: unknown): unknown {
  if (error instanceof KeyInUseError) {
    return new IdempotencyInProgressError();
  }
  return error instanceof KeyReusedError ? new IdempotencyKeyReusedError() : error;
}

function keyOf(request: FastifyRequest): string | undefined {
  const key = request.headers['idempotency-key'] as string | undefined;
  // Node joins repeated headers into one value, with a comma and a space between them.
  if (key?.includes(', ') && request.raw.headersDistinct['idempotency-key']!.length > 1) {
    throw new ValidationFailedError('Idempotency-Key must be given once.');
  }
  if (key !== undefined && !/^[\x20-\x7e]{1,255}$/.test(key)) {
    throw new ValidationFailedError('Idempotency-Key must be 1 to 255 printable ASCII characters.');
  }
  return key;
}

/** The same for the same JSON value, however it is spaced and in whatever order its fields are. */
function fingerprintOf({ method, url, body }: FastifyRequest): string {
  const value = body === undefined ? '' : jsonOf(body);
  return hash('sha256', `${method} ${url}\n${value}`, 'base64url');
}

function jsonOf(body: unknown): string {
  try {
    return JSON.stringify(body, inOrder);
  } catch {
    // Thousands of arrays in each other can be parsed, but not written.
    throw new ValidationFailedError('The body is nested too deeply.');
  }
}

function inOrder(_name: string, value: unknown): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;
}
