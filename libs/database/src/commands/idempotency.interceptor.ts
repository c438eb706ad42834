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
import { ApiError, ValidationFailedError, Documented, EachOperation } from '#libs/http';
import { CommandExecutor } from './command-executor';
import {
  IdempotencyInProgressError,
  IdempotencyKeyReusedError,
  type IdempotentUse,
  fingerprintOf,
  isNotKept,
} from './idempotency-records';
import type { Origin } from './state';

declare module 'fastify' {
  interface FastifyRequest {
    /** The client id for commands of this request; set when the caller is identified. */
    commandOwner?: number;
    /** Set for a request with an `Idempotency-Key`. */
    idempotentUse?: IdempotentUse;
  }
}

function clientOf({ commandOwner }: FastifyRequest): number {
  if (commandOwner === undefined) {
    throw new Error('The request has no identified caller to run a command for.');
  }
  return commandOwner;
}

/** Parameter decorator: the Origin of the commands that a request sends. */
export const SentBy = createParamDecorator((_data: unknown, context: ExecutionContext): Origin => {
  const http = context.switchToHttp();
  const request = http.getRequest<FastifyRequest>();
  const { statusCode } = http.getResponse<FastifyReply>();
  return { owner: clientOf(request), status: statusCode, use: request.idempotentUse };
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
    const fingerprint = fingerprintOf(request.method, request.url, request.rawBody ?? Buffer.alloc(0));
    const use = { owner: clientOf(request), key, fingerprint, sent: false, replayed: false };
    request.idempotentUse = use;
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    const report = () => use.replayed && void reply.header('Idempotent-Replayed', 'true');
    return next.handle().pipe(
      catchError((error: unknown) => this.refuse(error, use)),
      tap({ next: report, error: report }),
    );
  }

  /** Also stores errors that occurred before a command ran, such as a validation error. */
  private async refuse(error: unknown, use: IdempotentUse): Promise<object> {
    if (use.sent || !(error instanceof ApiError) || isNotKept(error.status)) {
      throw error;
    }
    const refusal = {
      needs: [],
      decide: (): object => {
        throw error;
      },
    };
    return this.commands.run(refusal, { owner: use.owner, status: error.status, use });
  }
}

/** Each POST of the controller supports `Idempotency-Key`. Its handler must run one command with the Origin (`@SentBy()`). */
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

function keyOf(request: FastifyRequest): string | undefined {
  const key = request.headers['idempotency-key'] as string | undefined;
  const fields = key === undefined ? 0 : request.raw.headersDistinct['idempotency-key']!.length;
  // Node joins repeated headers into one value, so they are counted separately.
  if (fields > 1) {
    throw new ValidationFailedError('Idempotency-Key must be given once.');
  }
  if (key !== undefined && !/^[\x20-\x7e]{1,255}$/.test(key)) {
    throw new ValidationFailedError('Idempotency-Key must be 1 to 255 printable ASCII characters.');
  }
  return key;
}
