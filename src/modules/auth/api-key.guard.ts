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
/**
 * The caller id for reads of API keys. Database reads are served round-robin by caller, so the reads of a busy client do not
 * delay the key lookups of other clients.
 */
const KEY_LOOK_UPS = -1;
/**
 * Milliseconds after which a cached key is read again. A changed key must take effect within one second, which includes the time
 * to respond.
 */
const FRESH_MS = 850;
const LAST_USE_INTERVAL_MS = 5_000;

const milliseconds = (time: string) => `floor(extract(epoch FROM ${time}) * 1000)`;

/**
 * Reads keys and their clients by digest. The statement is not prepared, because a plan that was made while the table was small
 * may scan the whole table later. OFFSET 0 makes PostgreSQL look up each client by id: until the table is analyzed, the planner
 * would walk the index of all clients instead.
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

interface KnownKey {
  key: ClientKey | null;
}

/** Looks up the keys of all waiting requests with one statement, because every forged key costs a lookup. */
const KEYS: SharedRead<string, KnownKey> = {
  maxBatch: MAX_BATCH,
  callFor: (digests) => ({ statement: KEYS_BY_DIGEST, values: [digests] }),
  resultsOf: (rows, digests) => {
    const keys = new Map(rows as readonly [digest: string, key: ClientKey][]);
    return digests.map((digest) => ({ key: keys.get(digest) ?? null }));
  },
};

/**
 * Identifies the API key of each request, and saves in batches when each key was last used. A request without a valid key is not
 * rejected here, because the limiter must count the request first.
 */
@Injectable()
export class Authenticator implements BeforeApplicationShutdown {
  private readonly lastUse = new WriteBehind<number>({
    name: 'Saving last uses of keys',
    intervalMs: LAST_USE_INTERVAL_MS,
    merge: Math.max,
    write: (batch) => this.writeLastUse(batch),
  });
  /** Caches keys by digest. Outdated entries are kept for `lastKnown`, which needs them while the database is unavailable. */
  private readonly known = new LRUCache<string, KnownKey>({
    max: MAX_KNOWN,
    ttl: FRESH_MS,
    ttlResolution: 10,
    noDeleteOnStaleGet: true,
    noDeleteOnFetchRejection: true,
    fetchMethod: async (digest, _outdated, { options }) => {
      const start = performance.now();
      const read = await this.database.readByKey(KEYS, digest, KEY_LOOK_UPS);
      // Count the age of an entry from the start of the read. The TTL is at least 1 ms, because 0 would keep the entry forever.
      options.ttl = Math.max(1, FRESH_MS - (performance.now() - start));
      return read;
    },
  });

  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Returns the valid key of a request, or an error that explains why the request has none. Rejects if the database cannot be read. */
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

  /**
   * Returns the key of a request from the cache, however old the entry is. Used when the key cannot be read from the database, so
   * that the error response can still report the rate limits of the client.
   */
  lastKnown(request: FastifyRequest): Identity {
    const text = presentedKey(request.raw);
    const known =
      typeof text === 'string' ? this.known.peek(digestOf(text), { allowStale: true }) : undefined;
    return this.identityOf(known);
  }

  /**
   * Reads the key of a request again, past the cache: the key may have been revoked while the request waited.
   * @throws ApiError 401 if the key is no longer valid
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

  /**
   * Saves the last uses in this phase of the shutdown: all requests have ended, and the database is still open. In the next phase
   * Nest closes the global modules in any order.
   */
  async beforeApplicationShutdown(): Promise<void> {
    await this.lastUse.close();
  }

  private async writeLastUse(batch: Map<string, number>): Promise<void> {
    const times = [...batch.values()].map((now) => new Date(now).toISOString());
    // Use plain SQL, because TypeORM cannot write a different value to each row. Lock the rows in ascending order of id, so that
    // two instances that save the same keys cannot deadlock.
    await this.keys.query(
      `WITH locked AS (SELECT id FROM api_keys WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE)
       UPDATE api_keys SET last_used_at = greatest(last_used_at, used.at)
       FROM locked JOIN unnest($1::bigint[], $2::timestamptz[]) AS used (id, at) USING (id) WHERE api_keys.id = locked.id`,
      [[...batch.keys()], times],
    );
  }
}

/**
 * Rejects requests without a valid key, and requests whose key lacks the scope that the operation requires. A test checks that
 * every handler declares its access rule.
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
 * Checks that the key of a request may call the route.
 * @param undeclared the rule for a route that declares no rule, such as a documentation page or an unknown path
 * @throws ApiError that says why the request is rejected
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

/** Returns the valid key of a request. Only for operations that require a key: throws an Error if the request has none. */
export function keyOf({ client }: FastifyRequest): ClientKey {
  if (!client?.key) {
    throw new Error('The request has no valid key, so it has no client.');
  }
  return client.key;
}

export const ClientId = createParamDecorator(
  (_data: unknown, context: ExecutionContext) =>
    keyOf(context.switchToHttp().getRequest<FastifyRequest>()).clientId,
);
