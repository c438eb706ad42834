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
import { type Command, CommandExecutor, type Origin, type State } from '#libs/database';
import {
  ApiError,
  Documented,
  EachOperation,
  IfMatch,
  ValidationFailedError,
  assertConditions,
  assertPathConditions,
  composed,
} from '#libs/http';
import { keyOf } from '../auth';
import { IdempotencyInProgressError, IdempotencyKeyReusedError, KeyedRequest } from './keyed-request';

declare module 'fastify' {
  interface FastifyRequest {
    /** What its command is told, for a request with an `Idempotency-Key`. */
    origin?: Origin;
  }
}

/** Parameter decorator: the Origin of the command that a request sends. */
export const CommandOrigin = createParamDecorator((_data: unknown, context: ExecutionContext): Origin => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  const { headers, origin = { owner: keyOf(request).clientId } } = request;
  if (request.routeOptions.config.checksConditions) {
    const assertHolds = (resource: object) => assertConditions(headers, resource);
    return { ...origin, precondition: { assertHolds } };
  }
  const wrap: Origin['wrap'] = (command) => {
    const conditional = underConditions(command, request);
    return origin.wrap?.(conditional) ?? conditional;
  };
  return { ...origin, wrap };
});

/** A command on a path without an ETag. Its conditions take precedence over errors of the store, but not over a 404. */
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
 * Makes an operation safe to retry: a request with an `Idempotency-Key` runs once, and its response is stored in the
 * transaction of the change. Source: draft-ietf-httpapi-idempotency-key-header.
 */
@Injectable()
class IdempotencyInterceptor implements NestInterceptor<object, object> {
  /** The keys of this process' unfinished requests, which claim them only while they run. Others are found by their claims. */
  private readonly running = new Set<string>();

  constructor(private readonly commands: CommandExecutor) {}

  intercept(context: ExecutionContext, next: CallHandler<object>): Observable<object> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const key = idempotencyKeyOf(request);
    if (key === undefined) {
      return next.handle();
    }
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    const { clientId: owner } = keyOf(request);
    const fingerprint = fingerprintOf(request, composedInOrder);
    // Older versions have stored the digest of the names as they were sent.
    const isSame = (kept: string) => kept === fingerprint || kept === fingerprintOf(request, inOrder);
    const keyed = new KeyedRequest(`${owner} ${key}`, fingerprint, reply.statusCode, isSame);
    if (this.running.has(keyed.name)) {
      throw new IdempotencyInProgressError();
    }
    this.running.add(keyed.name);
    const origin: Origin = { owner, wrap: (command) => keyed.once(command) };
    request.origin = origin;
    const report = () => {
      if (keyed.isReplayed) void reply.header('Idempotent-Replayed', 'true');
    };
    // An error of another kind is no replay: for example, a kept secret could not be decrypted.
    const reportRefusal = (error: unknown) => {
      if (error instanceof ApiError) report();
    };
    return next.handle().pipe(
      catchError((error: unknown) => this.refuse(error, keyed, origin)),
      tap({ next: report, error: reportRefusal }),
      finalize(() => this.running.delete(keyed.name)),
    );
  }

  /** If an error occurred before a command was sent, such as a bad value, the kept response of the key takes precedence. */
  private refuse(error: unknown, keyed: KeyedRequest, origin: Origin): Promise<object> {
    if (keyed.isSent || !(error instanceof ApiError)) {
      throw error;
    }
    const decide = (): object => {
      throw error;
    };
    return this.commands.execute(origin, { needs: [], decide });
  }
}

/**
 * The operations of the controller send one command each, with their `@CommandOrigin()`: a POST supports `Idempotency-Key`, and a
 * PUT, PATCH or DELETE `If-Match`.
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
  // Node joins repeated headers into one value, with a comma and a space between them.
  if (key?.includes(', ') && request.raw.headersDistinct['idempotency-key']!.length > 1) {
    throw new ValidationFailedError('Idempotency-Key must be given once.');
  }
  if (key !== undefined && !/^[\x20-\x7e]{1,255}$/.test(key)) {
    throw new ValidationFailedError('Idempotency-Key must be 1 to 255 printable ASCII characters.');
  }
  return key;
}

/** The same for the same operation, path parameters and JSON value, however the URL and the body are spelled. */
function fingerprintOf(request: FastifyRequest, replacer: Replacer): string {
  const { method, params, body } = request;
  const value = body === undefined ? '' : jsonOf(body, replacer);
  return hash(
    'sha256',
    `${method} ${request.routeOptions.url} ${JSON.stringify(params)}\n${value}`,
    'base64url',
  );
}

/** As `JSON.stringify` takes it. */
type Replacer = (name: string, value: unknown) => unknown;

function jsonOf(body: unknown, replacer: Replacer): string {
  try {
    return JSON.stringify(body, replacer);
  } catch {
    // Thousands of arrays in each other can be parsed, but not written.
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
