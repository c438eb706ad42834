import {
  type BeforeApplicationShutdown,
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
} from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { Repository } from 'typeorm';
import { Clock, WriteBehind } from '#libs/clock';
import { Database, type SharedRead, type Statement } from '#libs/database';
import type { ApiError } from '#libs/http';
import {
  ACCESS_RULE,
  type AccessRule,
  InsufficientScopeError,
  INVALID,
  MissingApiKeyError,
  presentedKey,
} from './access-rules';
import { type Caller, digestOf, isWellFormedKey, type KeyHolder, type Scope } from './api-key';
import { ApiKey } from './api-key.entity';

const MAX_BATCH = 500;
const MAX_KNOWN = 100_000;
const MAX_UNKNOWN = 10_000;
/** As a caller of the database: no client's reads make another client's key wait. */
const KEY_LOOK_UPS = -1;
/** A key that was read this long ago is read again, in the background. */
const FRESH_MS = 500;
/** From this age on, the request waits for the read: changes must apply within a second, response included. */
const OUTDATED_MS = 900;

/** SQL, because all waiting requests share it. Planned each time, because a plan that was made while a table was small may scan it. */
const HOLDERS_BY_DIGEST: Statement = {
  text: `SELECT k.digest, k.id, c.id, c.name, c.plan, c.per_minute, c.per_day, k.scopes, k.last4, k.created_at, k.expires_at,
      k.overlap_ends_at, k.name, b.level, b.banned_until, b.by_operator,
      (extract(epoch FROM b.changed_at) * 1000000)::bigint, r.reset_at
    FROM api_keys k JOIN clients c ON c.id = k.client_id
      LEFT JOIN key_bans b ON b.key_id = k.id LEFT JOIN quota_resets r ON r.client_id = k.client_id
    WHERE k.digest = ANY($1) AND k.revoked_at IS NULL AND c.deleted_at IS NULL`,
  isUnprepared: true,
};

type HolderRow = [
  digest: string,
  keyId: number,
  clientId: number,
  clientName: string,
  plan: string,
  perMinute: number | null,
  perDay: number | null,
  scopes: Scope[],
  last4: string,
  createdAt: Date,
  expiresAt: Date | null,
  overlapEndsAt: Date | null,
  name: string | null,
  ...ban:
    | [level: number, bannedUntil: Date, byOperator: boolean, changedAt: number]
    | [null, null, null, null],
  resetAt: Date | null,
];

/** Shared, because each forged key costs a lookup. */
const HOLDERS: SharedRead<string, KeyHolder | null> = {
  maxBatch: MAX_BATCH,
  callFor: (digests) => ({ statement: HOLDERS_BY_DIGEST, values: [digests] }),
  resultsOf: (rows, digests) => {
    const holders = new Map((rows as readonly HolderRow[]).map((row) => [row[0], toHolder(row)]));
    return digests.map((digest) => holders.get(digest) ?? null);
  },
};

interface KnownKey {
  /** Null if no valid key has this digest. */
  holder: KeyHolder | null;
  /** When the read started, on the monotonic clock. */
  readAt: number;
  isRefreshing: boolean;
}

/** Looks up keys: a bounded cache in front of the database, whose entries are never older than a second. */
@Injectable()
export class KeyDirectory {
  private readonly valid = new LRUCache<string, KnownKey>({ max: MAX_KNOWN });
  /** Apart, so that forged keys evict no valid ones. */
  private readonly unknown = new LRUCache<string, KnownKey>({ max: MAX_UNKNOWN });

  constructor(private readonly database: Database) {}

  /** The holder of a key; null if it is not valid. Its checksum saves a look-up, so a known key needs no check. */
  async find(key: string): Promise<KeyHolder | null> {
    const digest = digestOf(key);
    const known = this.knownOf(digest);
    if (known === undefined && !isWellFormedKey(key)) {
      return null;
    }
    const age = known === undefined ? Infinity : performance.now() - known.readAt;
    if (known === undefined || age >= OUTDATED_MS) {
      return this.lookUp(digest);
    }
    if (age >= FRESH_MS && !known.isRefreshing) {
      known.isRefreshing = true;
      // If this fails, a later request waits for a read, and reports the failure.
      this.lookUp(digest).catch(() => (known.isRefreshing = false));
    }
    return known.holder;
  }

  /** Reads the holder of a key from the database. */
  async lookUp(digest: string): Promise<KeyHolder | null> {
    const readAt = performance.now();
    const holder = await this.database.share(HOLDERS, digest, KEY_LOOK_UPS);
    if (readAt >= (this.knownOf(digest)?.readAt ?? 0)) {
      const [cache, other] = holder === null ? [this.unknown, this.valid] : [this.valid, this.unknown];
      cache.set(digest, { holder, readAt, isRefreshing: false });
      other.delete(digest);
    }
    return holder;
  }

  /** The holder of a key as it was read last, however long ago. */
  lastKnown(key: string): KeyHolder | null | undefined {
    return this.knownOf(digestOf(key))?.holder;
  }

  private knownOf(digest: string): KnownKey | undefined {
    return this.valid.get(digest) ?? this.unknown.get(digest);
  }
}

const NEVER_BANNED = { level: 0, bannedUntil: 0, byOperator: false, changedAt: 0 };

function toHolder([, keyId, clientId, clientName, plan, perMinute, perDay, ...rest]: HolderRow): KeyHolder {
  const [scopes, last4, createdAt, expiresAt, overlapEndsAt, name, ...limits] = rest;
  const [level, bannedUntil, byOperator, changedAt, resetAt] = limits;
  return {
    keyId,
    clientId,
    clientName,
    name,
    plan,
    perMinute,
    perDay,
    scopes,
    last4,
    createdAt: createdAt.getTime(),
    expiresAt: expiresAt?.getTime() ?? Infinity,
    overlapEndsAt: overlapEndsAt?.getTime() ?? null,
    ban: level === null ? NEVER_BANNED : { level, bannedUntil: bannedUntil.getTime(), byOperator, changedAt },
    resetAt: resetAt?.getTime() ?? 0,
  };
}

/** How often last uses are saved. */
const INTERVAL_MS = 5_000;

/**
 * Identifies the caller of a request. Rejects nobody: the limiter counts unauthenticated requests too. Records when each key
 * was last used, in batches.
 */
@Injectable()
export class Authenticator implements BeforeApplicationShutdown {
  private readonly lastUse = new WriteBehind<number>({
    name: 'Saving last uses of keys',
    intervalMs: INTERVAL_MS,
    merge: Math.max,
    write: (batch) => this.writeLastUse(batch),
  });

  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    private readonly directory: KeyDirectory,
    private readonly clock: Clock,
  ) {}

  /** Sets `request.caller`. Rejects if the key cannot be looked up; if it was known before, the caller is set even so. */
  async identify(request: FastifyRequest): Promise<void> {
    const key = presentedKey(request.raw);
    if (typeof key !== 'string') {
      request.caller = { holder: null, refusal: key };
      return;
    }
    try {
      request.caller = this.callerOf(await this.directory.find(key));
    } catch (failure) {
      // The failure is reported with the limits of the client.
      const known = this.directory.lastKnown(key);
      request.caller = known ? this.callerOf(known) : undefined;
      throw failure;
    }
    if (request.caller.holder !== null) {
      this.lastUse.add(String(request.caller.holder.keyId), this.clock.now());
    }
  }

  private callerOf(holder: KeyHolder | null): Caller {
    const isValid = holder !== null && holder.expiresAt > this.clock.now();
    return isValid ? { holder, refusal: null } : { holder: null, refusal: INVALID };
  }

  /**
   * Looks the key of a request up again, in the database: for a request that has waited.
   * @throws ApiError 401 if the key is not valid any more
   */
  async confirm(request: FastifyRequest): Promise<void> {
    const key = presentedKey(request.raw);
    const holder = typeof key !== 'string' ? null : await this.directory.lookUp(digestOf(key));
    if (holder === null || holder.expiresAt <= this.clock.now()) {
      throw INVALID;
    }
  }

  /** All requests have ended, and the database is still open: after this, global modules are closed in any order. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.lastUse.close();
  }

  private async writeLastUse(batch: Map<string, number>): Promise<void> {
    const times = [...batch.values()].map((now) => new Date(now).toISOString());
    // SQL, because TypeORM cannot give each row its own value. Rows are locked in the order of ids, so that instances with the
    // same callers wait for each other without a deadlock.
    await this.keys.query(
      `WITH locked AS (SELECT id FROM api_keys WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE)
       UPDATE api_keys SET last_used_at = greatest(last_used_at, used.at)
       FROM locked JOIN unnest($1::bigint[], $2::timestamptz[]) AS used (id, at) USING (id) WHERE api_keys.id = locked.id`,
      [[...batch.keys()], times],
    );
  }
}

/**
 * Rejects requests without a valid key, or without the scope that the operation needs. A test checks that every handler
 * declares a rule.
 */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const declared = Reflect.getMetadata(ACCESS_RULE, context.getHandler()) as AccessRule | undefined;
    const rule = declared ?? 'write';
    if (rule === 'public') {
      return true;
    }
    const refusal = refusalOf(context.switchToHttp().getRequest<FastifyRequest>().caller, rule);
    if (refusal !== null) {
      throw refusal;
    }
    return true;
  }
}

/** Why this caller may not call an operation with this rule; null if it may. */
export function refusalOf(caller: Caller | undefined, rule: Scope | 'any key'): ApiError | null {
  if (!caller?.holder) {
    return caller?.refusal ?? new MissingApiKeyError();
  }
  return rule === 'any key' || caller.holder.scopes.includes(rule) ? null : new InsufficientScopeError(rule);
}

/** The client whose key a request carries. Only operations that need a key have one. */
export function clientIdOf({ caller }: FastifyRequest): number {
  if (!caller?.holder) {
    throw new Error('The request has no valid key, so it has no client.');
  }
  return caller.holder.clientId;
}

/** Parameter decorator: the id of the client that sent the request. */
export const ClientId = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  clientIdOf(context.switchToHttp().getRequest<FastifyRequest>()),
);
