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
import { WriteBehind } from '#libs/background';
import { Clock } from '#libs/clock';
import { Database, type SharedRead, type Statement } from '#libs/database';
import { type AccessRule, InsufficientScopeError, INVALID, MISSING, presentedKey } from './access-rules';
import { type ClientKey, digestOf, type Identity, isWellFormedKey } from './api-key';
import { ApiKey } from './api-key.entity';

const MAX_BATCH = 500;
const MAX_KNOWN = 100_000;
/** As a caller of the database: no client's reads make another client's key wait. */
const KEY_LOOK_UPS = -1;
/** From this age on a key is read again: changes must apply within a second, response included. */
const FRESH_MS = 850;
/** How often last uses are saved. */
const LAST_USE_MS = 5_000;

const milliseconds = (time: string) => `floor(extract(epoch FROM ${time}) * 1000)`;

/**
 * SQL, because all waiting requests share it. Planned each time, because a plan that was made while a table was small may scan it.
 * OFFSET 0, so that clients are looked up one by one: PostgreSQL would walk the index of those that are not deleted, which it
 * takes for few until the table is analyzed.
 */
const KEYS_BY_DIGEST: Statement = {
  text: `SELECT k.digest, json_build_object('id', k.id, 'clientId', c.id, 'clientName', c.name, 'name', k.name, 'plan', c.plan,
      'perMinute', c.per_minute, 'perDay', c.per_day, 'scopes', k.scopes, 'last4', k.last4,
      'createdAt', ${milliseconds('k.created_at')}, 'expiresAt', ${milliseconds('k.expires_at')},
      'overlapEndsAt', ${milliseconds('k.overlap_ends_at')}, 'resetAt', coalesce(${milliseconds('c.reset_at')}, 0),
      'ban', json_build_object('level', k.ban_level, 'bannedUntil', coalesce(${milliseconds('k.banned_until')}, 0),
        'byOperator', k.banned_by_operator, 'changedAt', coalesce(${milliseconds('k.ban_changed_at')}, 0)))
    FROM api_keys k CROSS JOIN LATERAL (SELECT * FROM clients WHERE id = k.client_id OFFSET 0) AS c
    WHERE k.digest = ANY($1) AND k.revoked_at IS NULL AND c.deleted_at IS NULL`,
  isUnprepared: true,
};

/** A key in the database; null if no valid key has this digest. */
interface KnownKey {
  key: ClientKey | null;
}

/** Shared, because each forged key costs a lookup. */
const KEYS: SharedRead<string, KnownKey> = {
  maxBatch: MAX_BATCH,
  callFor: (digests) => ({ statement: KEYS_BY_DIGEST, values: [digests] }),
  resultsOf: (rows, digests) => {
    const keys = new Map(rows as readonly [digest: string, key: ClientKey][]);
    return digests.map((digest) => ({ key: keys.get(digest) ?? null }));
  },
};

/**
 * Finds the key of a request. Rejects nobody: the limiter counts unauthenticated requests too. Records when each key was
 * last used, in batches.
 */
@Injectable()
export class Authenticator implements BeforeApplicationShutdown {
  private readonly lastUse = new WriteBehind<number>({
    name: 'Saving last uses of keys',
    intervalMs: LAST_USE_MS,
    merge: Math.max,
    write: (batch) => this.writeLastUse(batch),
  });
  /** By digest. Outdated ones stay, in case the database fails. */
  private readonly known = new LRUCache<string, KnownKey>({
    max: MAX_KNOWN,
    ttl: FRESH_MS,
    ttlResolution: 10,
    noDeleteOnStaleGet: true,
    noDeleteOnFetchRejection: true,
    fetchMethod: async (digest, _outdated, { options }) => {
      const start = performance.now();
      const read = await this.database.readByKey(KEYS, digest, KEY_LOOK_UPS);
      // What was read has the age of the read. A time to live of 0 would be for ever.
      options.ttl = Math.max(1, FRESH_MS - (performance.now() - start));
      return read;
    },
  });

  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** The key of a request. Rejects if it cannot be looked up. */
  async identify(request: FastifyRequest): Promise<Identity> {
    const text = presentedKey(request.raw);
    if (typeof text !== 'string') {
      return { key: null, refusal: text };
    }
    const digest = digestOf(text);
    const known =
      this.known.get(digest) ?? (isWellFormedKey(text) ? await this.known.fetch(digest) : undefined);
    const identity = this.identityOf(known);
    if (identity.key !== null) {
      this.lastUse.add(String(identity.key.id), this.clock.now());
    }
    return identity;
  }

  /** The key of a request as it was known last, for the report of a failed look-up. */
  lastKnown(request: FastifyRequest): Identity {
    const text = presentedKey(request.raw);
    const known =
      typeof text === 'string' ? this.known.peek(digestOf(text), { allowStale: true }) : undefined;
    return this.identityOf(known);
  }

  /**
   * Looks the key of a request up again, in the database: for a request that has waited.
   * @throws ApiError 401 if the key is not valid any more
   */
  async confirm(request: FastifyRequest): Promise<void> {
    const text = presentedKey(request.raw);
    const known =
      typeof text === 'string' ? await this.known.fetch(digestOf(text), { forceRefresh: true }) : undefined;
    const { refusal } = this.identityOf(known);
    if (refusal !== null) {
      throw refusal;
    }
  }

  private identityOf({ key }: KnownKey = { key: null }): Identity {
    const isValid = key !== null && (key.expiresAt === null || key.expiresAt > this.clock.now());
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
    assertMayCall(request, 'write');
    return true;
  }
}

/**
 * @param undeclared the rule of pages and documents, which are no operations, and of unknown paths
 * @throws ApiError that says why this request may not be answered
 */
export function assertMayCall({ client, routeOptions }: FastifyRequest, undeclared: AccessRule): void {
  const rule = routeOptions.config.access ?? undeclared;
  if (rule === 'public') {
    return;
  }
  if (!client?.key) {
    throw client?.refusal ?? MISSING;
  }
  if (rule !== 'any key' && !client.key.scopes.includes(rule)) {
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
