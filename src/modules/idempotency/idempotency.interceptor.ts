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
import { type Observable, catchError, finalize, tap } from 'rxjs';
import { type Command, CommandExecutor, type CommandSource, type State } from '#libs/database';
import {
  ApiError,
  Documented,
  EachOperation,
  IfMatch,
  ValidationFailedError,
  assertConditions,
  assertPathConditions,
  composed,
  headerValuesOf,
} from '#libs/http';
import { keyOf } from '../auth';
import { IdempotencyInProgressError, IdempotencyKeyReusedError, KeyedRequest } from './keyed-request';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set if the request has an `Idempotency-Key`. Makes the command of the request take effect only once. */
    commandSource?: CommandSource;
  }
}

/**
 * Parameter decorator: returns the client that sends a command, and applies `If-Match` and `Idempotency-Key` to the
 * command.
 */
export const Source = createParamDecorator((_data: unknown, context: ExecutionContext): CommandSource => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  const { headers, commandSource: source = { caller: keyOf(request).clientId } } = request;
  if (request.routeOptions.config.checksConditions) {
    return { ...source, assertPrecondition: (resource) => assertConditions(headers, resource) };
  }
  const wrap: CommandSource['wrap'] = (command) => {
    const conditional = underConditions(command, request);
    return source.wrap?.(conditional) ?? conditional;
  };
  return { ...source, wrap };
});

/** Checks `If-Match` and `If-None-Match` for an operation on a path that returns no ETag, such as a list. */
function underConditions<Result>(command: Command<Result>, request: FastifyRequest): Command<Result> {
  const decide = (state: State): Result => {
    try {
      const result = command.decide(state);
      assertPathConditions(request);
      return result;
    } catch (error) {
      if (error instanceof ApiError && error.status !== 404) {
        assertPathConditions(request);
      }
      throw error;
    }
  };
  return { ...command, decide };
}

/**
 * Makes an operation safe to retry: a request with an `Idempotency-Key` takes effect once
 * (draft-ietf-httpapi-idempotency-key-header).
 */
@Injectable()
class IdempotencyInterceptor implements NestInterceptor<object, object> {
  /**
   * Idempotency keys of the requests that this process is handling. A lock in the database protects against other
   * processes.
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
    const { clientId: caller } = keyOf(request);
    const fingerprint = fingerprintOf(request, composedInOrder);
    // Also accept the fingerprint of earlier versions of the service, which did not normalize Unicode names.
    const isSame = (kept: string) => kept === fingerprint || kept === fingerprintOf(request, inOrder);
    const keyed = new KeyedRequest(`${caller} ${key}`, fingerprint, reply.statusCode, isSame);
    if (this.running.has(keyed.name)) {
      throw new IdempotencyInProgressError();
    }
    this.running.add(keyed.name);
    const source: CommandSource = { caller, wrap: (command) => keyed.once(command) };
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
   * Handles an invalid request. If a response is stored for its idempotency key, sends that response instead of the
   * error.
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

/**
 * Class decorator for a controller that changes data. POST supports `Idempotency-Key`; PUT, PATCH and DELETE support
 * `If-Match`.
 */
export function SendsCommands(): ClassDecorator {
  const idempotent = applyDecorators(
    UseInterceptors(IdempotencyInterceptor),
    Documented({
      parameters: ['Idempotency-Key'],
      success: ['Idempotent-Replayed'],
      errors: [IdempotencyInProgressError, IdempotencyKeyReusedError],
    }),
  );
  const conditional = IfMatch();
  return EachOperation((method) => {
    if (method === RequestMethod.POST) {
      return idempotent;
    }
    return method === RequestMethod.GET ? undefined : conditional;
  });
}

function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const key = request.headers['idempotency-key'] as string | undefined;
  // Node joins repeated header fields with ", ", which a single key may contain as well. Count the fields.
  if (headerValuesOf(request.raw, 'idempotency-key').length > 1) {
    throw new ValidationFailedError('Idempotency-Key must be given once.');
  }
  if (key !== undefined && !/^[\x20-\x7e]{1,255}$/.test(key)) {
    throw new ValidationFailedError('Idempotency-Key must be 1 to 255 printable ASCII characters.');
  }
  return key;
}

/**
 * Returns a digest of the operation, the path parameters and the JSON body. It does not depend on the spelling of the URL or of
 * the JSON.
 */
function fingerprintOf(request: FastifyRequest, replacer: Replacer): string {
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

function composedInOrder(name: string, value: unknown): unknown {
  return name === 'name' && typeof value === 'string' ? composed(value) : inOrder(name, value);
}

function inOrder(_name: string, value: unknown): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;
}
