import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { WriteBehind } from '#libs/background';
import { Clock } from '#libs/clock';
import { type CallerId, Database, type SharedRead } from '#libs/database';
import { INVALID_KEY, presentedKey } from './access-rules';
import { type ClientKey, digestOf, type Identity, isWellFormedKey } from './api-key';
import { assertMayCall } from './api-key.guard';

const MAX_KEYS = 500;
const MAX_KNOWN = 100_000;
/**
 * The caller id of key look-ups. Reads are scheduled round-robin by caller. Key look-ups have a caller id of their own,
 * so that many reads of one client do not delay look-ups.
 */
const KEY_LOOKUP_CALLER_ID = -1 as CallerId;
/**
 * How long a key is cached, in milliseconds. The time is shorter than a second, because a changed key must take effect
 * within a second.
 */
const FRESH_MS = 850;
const LAST_USE_INTERVAL_MS = 5_000;

const milliseconds = (time: string) => `floor(extract(epoch FROM ${time}) * 1000)`;

/**
 * Reads keys and their clients by digest. PostgreSQL must find each row by an index. The statement is therefore not
 * prepared (`isUnprepared`), because the plan of a prepared statement has to suit any number of digests, and could read
 * whole tables. Without OFFSET 0, PostgreSQL could read all clients for the join.
 */
const KEYS_BY_DIGEST = `SELECT k.digest, json_build_object('id', k.id, 'clientId', c.id, 'clientName', c.name, 'name', k.name, 'plan', c.plan,
      'perMinute', c.per_minute, 'perDay', c.per_day, 'scopes', k.scopes, 'last4', k.last4,
      'createdAt', ${milliseconds('k.created_at')}, 'expiresAt', ${milliseconds('k.expires_at')},
      'overlapEndsAt', ${milliseconds('k.overlap_ends_at')}, 'resetAt', coalesce(${milliseconds('c.reset_at')}, 0),
      'ban', json_build_object('level', k.ban_level, 'bannedUntil', coalesce(${milliseconds('k.banned_until')}, 0),
        'byOperator', k.banned_by_operator, 'changedAt', coalesce(${milliseconds('k.ban_changed_at')}, 0)))
    FROM api_keys k CROSS JOIN LATERAL (SELECT * FROM clients WHERE id = k.client_id OFFSET 0) AS c
    WHERE k.digest = ANY($1) AND k.revoked_at IS NULL AND c.deleted_at IS NULL`;

const UNKNOWN: Identity = { key: null, refusal: INVALID_KEY };

/**
 * Looks up the keys of up to MAX_KEYS waiting requests with one statement. With a statement for each request, a flood
 * of forged keys would keep the database busy.
 */
const KEYS: SharedRead<string, Identity> = {
  maxKeys: MAX_KEYS,
  statementFor: (digests) => ({ text: KEYS_BY_DIGEST, values: [digests], isUnprepared: true }),
  resultsOf: (rows, digests) => {
    const keys = new Map(rows as readonly [digest: string, key: ClientKey][]);
    return digests.map((digest) => {
      const key = keys.get(digest);
      return key === undefined ? UNKNOWN : { key, refusal: null };
    });
  },
};

/**
 * Identifies the API key of each request. Does not reject a request without a valid key, because the rate limiter must
 * count such a request first.
 */
@Injectable()
export class Authenticator implements BeforeApplicationShutdown {
  private readonly lastUse = new WriteBehind<number>({
    name: 'Saving last uses of keys',
    intervalMs: LAST_USE_INTERVAL_MS,
    merge: Math.max,
    write: (batch) => this.writeLastUse(batch),
  });
  /**
   * Caches keys by digest. Outdated entries stay in the cache, so that error responses can report a client's limits while the
   * database is unavailable.
   */
  private readonly known = new LRUCache<string, Identity>({
    // A cache with `max` instead of `maxSize` would allocate memory for all entries at the start.
    maxSize: MAX_KNOWN,
    sizeCalculation: () => 1,
    ttl: FRESH_MS,
    ttlResolution: 10,
    noDeleteOnStaleGet: true,
    noDeleteOnFetchRejection: true,
    fetchMethod: async (digest, _outdated, { options }) => {
      const start = performance.now();
      const read = await this.database.reads.readByKey(KEYS, digest, KEY_LOOKUP_CALLER_ID);
      // Count the age of an entry from the start of the read, because the key may change during the read.
      options.ttl = Math.max(1, FRESH_MS - (performance.now() - start));
      return read;
    },
  });

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the key of a request if the key is valid, otherwise the error to respond with. Rejects if the database
   * cannot be read.
   */
  async identify(request: FastifyRequest): Promise<Identity> {
    const text = presentedKey(request.raw);
    if (typeof text !== 'string') {
      return { key: null, refusal: text };
    }
    const digest = digestOf(text);
    const known =
      this.known.get(digest) ?? (isWellFormedKey(text) ? await this.known.fetch(digest) : undefined);
    const identity = this.unlessExpired(known);
    if (identity.key !== null) {
      this.lastUse.add(String(identity.key.id), this.clock.now());
    }
    return identity;
  }

  /**
   * Identifies the client of a request from the cache, even from an outdated entry, and does not read the database.
   * While the database cannot be read, error responses report the rate limits of this client.
   */
  lastKnown(request: FastifyRequest): Identity {
    return this.unlessExpired(this.known.peek(digestIn(request), { allowStale: true }));
  }

  /**
   * Reads the key of a request again instead of using the cache, because the key may have been revoked, or may have lost
   * a scope, while the request waited.
   * @throws ApiError if the key may not call the route any more
   */
  async confirm(request: FastifyRequest): Promise<void> {
    const known = await this.known.fetch(digestIn(request), { forceRefresh: true });
    assertMayCall({ client: this.unlessExpired(known), routeOptions: request.routeOptions });
  }

  private unlessExpired(identity: Identity = UNKNOWN): Identity {
    const expiresAt = identity.key?.expiresAt ?? Infinity;
    return expiresAt > this.clock.now() ? identity : UNKNOWN;
  }

  /**
   * Saves when keys were last used. This happens in this phase of the shutdown, because Nest may close the database in
   * the next phase.
   */
  async beforeApplicationShutdown(): Promise<void> {
    await this.lastUse.close();
  }

  private async writeLastUse(batch: Map<string, number>): Promise<void> {
    const times = [...batch.values()].map((now) => new Date(now).toISOString());
    // Rows are locked in the order of their ids, so that instances cannot deadlock.
    await this.database.query({
      text: `WITH locked AS (SELECT id FROM api_keys WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE)
       UPDATE api_keys SET last_used_at = greatest(last_used_at, used.at)
       FROM locked JOIN unnest($1::bigint[], $2::timestamptz[]) AS used (id, at) USING (id) WHERE api_keys.id = locked.id`,
      values: [[...batch.keys()], times],
      // Plan the statement for the number of keys, because a plan for any number of keys could read the whole table.
      isUnprepared: true,
    });
  }
}

/** Returns the digest of the key in a request that has already presented a well-formed key. */
function digestIn(request: FastifyRequest): string {
  return digestOf(presentedKey(request.raw) as string);
}
