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
import {
  type AccessRule,
  accessRuleOf,
  InsufficientScopeError,
  INVALID,
  MISSING,
  presentedKey,
} from './access-rules';
import { type ClientKey, digestOf, type Identity, isWellFormedKey, type Scope } from './api-key';
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

/**
 * SQL, because all waiting requests share it. Planned each time, because a plan that was made while a table was small may scan it.
 * OFFSET 0, so that clients are looked up one by one: PostgreSQL would walk the index of those that are not deleted, which it
 * takes for few until the table is analyzed.
 */
const KEYS_BY_DIGEST: Statement = {
  text: `SELECT k.digest, k.id, c.id, c.name, c.plan, c.per_minute, c.per_day, k.scopes, k.last4, k.created_at, k.expires_at,
      k.overlap_ends_at, k.name, k.ban_level, k.banned_until, k.banned_by_operator,
      (extract(epoch FROM k.ban_changed_at) * 1000000)::bigint, c.reset_at
    FROM api_keys k CROSS JOIN LATERAL (SELECT * FROM clients WHERE id = k.client_id OFFSET 0) AS c
    WHERE k.digest = ANY($1) AND k.revoked_at IS NULL AND c.deleted_at IS NULL`,
  isUnprepared: true,
};

type KeyRow = [
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
  banLevel: number,
  bannedUntil: Date | null,
  bannedByOperator: boolean,
  banChangedAt: number | null,
  resetAt: Date | null,
];

/** Shared, because each forged key costs a lookup. */
const KEYS: SharedRead<string, ClientKey | null> = {
  maxBatch: MAX_BATCH,
  callFor: (digests) => ({ statement: KEYS_BY_DIGEST, values: [digests] }),
  resultsOf: (rows, digests) => {
    const keys = new Map((rows as readonly KeyRow[]).map((row) => [row[0], toKey(row)]));
    return digests.map((digest) => keys.get(digest) ?? null);
  },
};

interface KnownKey {
  /** Null if no valid key has this digest. */
  key: ClientKey | null;
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

  /** What is known of a key; null if it is not valid. Its checksum saves a look-up, so a known key needs no check. */
  async find(text: string): Promise<ClientKey | null> {
    const digest = digestOf(text);
    const known = this.knownOf(digest);
    if (known === undefined && !isWellFormedKey(text)) {
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
    return known.key;
  }

  /** Reads a key from the database. */
  async lookUp(digest: string): Promise<ClientKey | null> {
    const readAt = performance.now();
    const key = await this.database.readByKey(KEYS, digest, KEY_LOOK_UPS);
    if (readAt >= (this.knownOf(digest)?.readAt ?? 0)) {
      const [cache, other] = key === null ? [this.unknown, this.valid] : [this.valid, this.unknown];
      cache.set(digest, { key, readAt, isRefreshing: false });
      other.delete(digest);
    }
    return key;
  }

  /** A key as it was read last, however long ago; null if it was not valid or was never read. */
  lastKnown(text: string): ClientKey | null {
    return this.knownOf(digestOf(text))?.key ?? null;
  }

  private knownOf(digest: string): KnownKey | undefined {
    return this.valid.get(digest) ?? this.unknown.get(digest);
  }
}

function toKey([, id, clientId, clientName, plan, perMinute, perDay, ...rest]: KeyRow): ClientKey {
  const [scopes, last4, createdAt, expiresAt, overlapEndsAt, name, ...limits] = rest;
  const [level, bannedUntil, byOperator, changedAt, resetAt] = limits;
  return {
    id,
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
    ban: { level, bannedUntil: bannedUntil?.getTime() ?? 0, byOperator, changedAt: changedAt ?? 0 },
    resetAt: resetAt?.getTime() ?? 0,
  };
}

/** How often last uses are saved. */
const INTERVAL_MS = 5_000;

/**
 * Finds the key of a request. Rejects nobody: the limiter counts unauthenticated requests too. Records when each key was
 * last used, in batches.
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

  /** The key of a request. Rejects if it cannot be looked up. */
  async identify(request: FastifyRequest): Promise<Identity> {
    const text = presentedKey(request.raw);
    if (typeof text !== 'string') {
      return { key: null, refusal: text };
    }
    const identity = this.identityOf(await this.directory.find(text));
    if (identity.key !== null) {
      this.lastUse.add(String(identity.key.id), this.clock.now());
    }
    return identity;
  }

  /** The key of a request as it was known last, for the report of a failed look-up. */
  lastKnown(request: FastifyRequest): Identity {
    const text = presentedKey(request.raw);
    return this.identityOf(typeof text === 'string' ? this.directory.lastKnown(text) : null);
  }

  /**
   * Looks the key of a request up again, in the database: for a request that has waited.
   * @throws ApiError 401 if the key is not valid any more
   */
  async confirm(request: FastifyRequest): Promise<void> {
    const text = presentedKey(request.raw);
    const { refusal } = this.identityOf(
      typeof text === 'string' ? await this.directory.lookUp(digestOf(text)) : null,
    );
    if (refusal !== null) {
      throw refusal;
    }
  }

  private identityOf(key: ClientKey | null): Identity {
    const isValid = key !== null && key.expiresAt > this.clock.now();
    return isValid ? { key, refusal: null } : { key: null, refusal: INVALID };
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
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    assertMayCall(request.client, accessRuleOf(request) ?? 'write');
    return true;
  }
}

/** @throws ApiError that says why requests with this key, or without one, may not call an operation with this rule */
export function assertMayCall(identity: Identity | undefined, rule: AccessRule): void {
  if (rule === 'public') {
    return;
  }
  if (!identity?.key) {
    throw identity?.refusal ?? MISSING;
  }
  if (rule !== 'any key' && !identity.key.scopes.includes(rule)) {
    throw new InsufficientScopeError(rule);
  }
}

/** The valid key of a request. Only operations that need one may ask. */
export function keyOf({ client }: FastifyRequest): ClientKey {
  if (!client?.key) {
    throw new Error('The request has no valid key, so it has no client.');
  }
  return client.key;
}

/** Parameter decorator: the id of the client that sent the request. */
export const ClientId = createParamDecorator(
  (_data: unknown, context: ExecutionContext) =>
    keyOf(context.switchToHttp().getRequest<FastifyRequest>()).clientId,
);
