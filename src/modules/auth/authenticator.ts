import {
  type BeforeApplicationShutdown,
  type ExecutionContext,
  Injectable,
  Logger,
  type PipeTransform,
  createParamDecorator,
} from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { FastifyRequest } from 'fastify';
import { Repository } from 'typeorm';
import { Clock } from '#libs/clock';
import { WriteBehind } from '#libs/database';
import { ApiError } from '#libs/http';
import { digestOf, isWellFormedKey, presentedKey } from './api-key-format';
import { ApiKey } from './api-key.entity';
import { InvalidApiKeyError, MissingApiKeyError } from './api-key.guard';
import type { Caller, KeyHolder } from './caller';
import { KeyDirectory } from './key-directory';

/** Shared by all requests, because these errors are the same for everybody. */
const MISSING = new MissingApiKeyError();
const INVALID = new InvalidApiKeyError();

/** How often last uses are saved. */
const INTERVAL_MS = 5_000;

/** Records when each key was last used; writes in batches. */
@Injectable()
export class KeyUse implements BeforeApplicationShutdown {
  private readonly logger = new Logger(KeyUse.name);
  private readonly lastUse: WriteBehind<number>;

  constructor(@InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>) {
    this.lastUse = new WriteBehind<number>({
      intervalMs: INTERVAL_MS,
      merge: Math.max,
      write: (batch) => this.write(batch),
      onError: (error) =>
        this.logger.warn(`Last-used times of keys could not be saved; will retry: ${String(error)}`),
    });
  }

  record(keyId: number, now: number): void {
    this.lastUse.add(String(keyId), now);
  }

  /** All requests have ended, and the database is still open: after this, global modules are closed in any order. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.lastUse.close();
  }

  private async write(batch: Map<string, number>): Promise<void> {
    const times = [...batch.values()].map((now) => new Date(now).toISOString());
    // SQL, because TypeORM cannot give each row its own value.
    await this.keys.query(
      `UPDATE api_keys SET last_used_at = greatest(last_used_at, used.at)
       FROM unnest($1::bigint[], $2::timestamptz[]) AS used (id, at) WHERE api_keys.id = used.id`,
      [[...batch.keys()], times],
    );
  }
}

/** Identifies the caller of a request. Rejects nobody: the limiter counts unauthenticated requests too. */
@Injectable()
export class Authenticator {
  constructor(
    private readonly directory: KeyDirectory,
    private readonly keyUse: KeyUse,
    private readonly clock: Clock,
  ) {}

  /** Sets `request.caller`, synchronously if the key is cached. Rejects if the key cannot be looked up. */
  identify(request: FastifyRequest): void | Promise<void> {
    const key = keyOrRefusal(request);
    if (key instanceof ApiError) {
      request.caller = { holder: null, refusal: key };
      return;
    }
    const digest = digestOf(key);
    const holder = this.directory.findKnown(digest);
    if (holder === undefined) {
      return this.directory.lookUp(digest).then((found) => this.identified(request, found));
    }
    this.identified(request, holder);
  }

  /**
   * Looks the key of a request up again, in the database: for a request that has waited.
   * @throws ApiError 401 if the key is not valid any more
   */
  async confirm(request: FastifyRequest): Promise<void> {
    const key = keyOrRefusal(request);
    const holder = key instanceof ApiError ? null : await this.directory.lookUp(digestOf(key));
    if (holder === null || holder.expiresAt <= this.clock.now()) {
      throw INVALID;
    }
  }

  private identified(request: FastifyRequest, holder: KeyHolder | null): void {
    request.caller = this.callerOf(holder);
    request.commandOwner = holder?.clientId;
  }

  private callerOf(holder: KeyHolder | null): Caller {
    const now = this.clock.now();
    if (holder === null || holder.expiresAt <= now) {
      return { holder: null, refusal: INVALID };
    }
    this.keyUse.record(holder.keyId, now);
    return { holder, refusal: null };
  }
}

@Injectable()
class KeyConfirmation implements PipeTransform<FastifyRequest> {
  constructor(private readonly authenticator: Authenticator) {}

  transform(request: FastifyRequest): () => Promise<void> {
    return () => this.authenticator.confirm(request);
  }
}

const RequestOfCaller = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  context.switchToHttp().getRequest<FastifyRequest>(),
);

/** Parameter decorator: `Authenticator.confirm` for this request. */
export const ConfirmKey = (): ParameterDecorator => RequestOfCaller(KeyConfirmation);

function keyOrRefusal(request: FastifyRequest): string | ApiError {
  try {
    const key = presentedKey(request.headers);
    if (key === null) {
      return MISSING;
    }
    return isWellFormedKey(key) ? key : INVALID;
  } catch (error) {
    return error as ApiError;
  }
}
