import type { IncomingHttpHeaders } from 'node:http';
import { type BeforeApplicationShutdown, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { Repository } from 'typeorm';
import { Clock } from '#libs/clock';
import { Database, int8ToNumber, NotificationListener, type SharedRead, WriteBehind } from '#libs/database';
import { ApiError } from '#libs/http';
import { type Caller, digestOf, isWellFormedKey, type KeyHolder, type Scope } from './api-key';
import { ApiKey } from './api-key.entity';
import { ConflictingCredentialsError, InvalidApiKeyError, MissingApiKeyError } from './api-key.guard';

/** Notified by triggers on the tables clients and api_keys; the payload is the client's id. */
const KEYS_CHANNEL = 'petstore_keys';

const MAX_BATCH = 500;
const MAX_KNOWN = 100_000;
const MAX_UNKNOWN = 10_000;
/** As a caller of the database: no client's reads make another client's key wait. */
const KEY_LOOK_UPS = -1;
/** How long a change may go unnoticed without notifications. Changes must apply within a second, response included. */
const BLIND_TTL_MS = 700;

/** SQL, because all waiting requests share it. Planned for its values, because a plan for any number of digests may scan a table. */
const HOLDERS_BY_DIGEST = `
  SELECT k.digest, k.id, c.id, c.name, c.plan, c.per_minute, c.per_day, k.scopes, k.last4, k.created_at, k.expires_at,
    k.overlap_ends_at, k.name
  FROM api_keys k JOIN clients c ON c.id = k.client_id
  WHERE k.digest = ANY($1) AND k.revoked_at IS NULL`;

type HolderRow = [
  digest: string,
  keyId: string,
  clientId: string,
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
];

/** Shared, because each forged key costs a lookup. */
const HOLDERS: SharedRead<string, KeyHolder | null> = {
  maxBatch: MAX_BATCH,
  statementFor: (digests) => ({
    text: HOLDERS_BY_DIGEST,
    values: [[...new Set(digests)]],
    isUnprepared: true,
  }),
  resultsOf: (rows, digests) => {
    const holders = new Map((rows as readonly HolderRow[]).map((row) => [row[0], toHolder(row)]));
    return digests.map((digest) => holders.get(digest) ?? null);
  },
};

/** Looks up keys: a bounded cache in front of the database, invalidated by its notifications. */
@Injectable()
export class KeyDirectory implements OnModuleInit {
  private readonly logger = new Logger(KeyDirectory.name);
  private readonly known = new LRUCache<string, KeyHolder>({ max: MAX_KNOWN });
  private readonly unknown = new LRUCache<string, true>({ max: MAX_UNKNOWN });
  private isListening = false;
  /** Cache statistics. */
  readonly uses = { hit: 0, miss: 0 };
  /** Increases with each change, so that a lookup which a change has overtaken is not cached. */
  private generation = 0;

  constructor(
    private readonly database: Database,
    private readonly listener: NotificationListener,
  ) {}

  /** False while notifications do not arrive; the cache then keeps entries for less than a second. */
  get listening(): boolean {
    return this.isListening;
  }

  async onModuleInit(): Promise<void> {
    await this.listener.subscribe({
      channels: [KEYS_CHANNEL],
      onNotification: (clientId) => this.forget(Number(clientId)),
      onState: (listening) => this.changeOfState(listening),
    });
  }

  /** The cached holder of a key; null if the key is cached as invalid, undefined if it is not cached. */
  findKnown(digest: string): KeyHolder | null | undefined {
    const known = this.known.get(digest) ?? (this.unknown.has(digest) ? null : undefined);
    if (known !== undefined) {
      this.uses.hit += 1;
    }
    return known;
  }

  /** Reads the holder of a key from the database; null if no valid key has this digest. */
  async lookUp(digest: string): Promise<KeyHolder | null> {
    this.uses.miss += 1;
    const { generation } = this;
    const startedAt = performance.now();
    const holder = await this.database.share(HOLDERS, digest, KEY_LOOK_UPS);
    // The data is as old as the start of the read.
    const ttl = this.isListening ? undefined : Math.floor(startedAt + BLIND_TTL_MS - performance.now());
    if (generation === this.generation && (ttl === undefined || ttl > 0)) {
      if (holder) {
        this.known.set(digest, holder, { ttl });
      } else {
        this.unknown.set(digest, true, { ttl });
      }
    }
    return holder;
  }

  private forget(clientId: number): void {
    this.generation += 1;
    this.unknown.clear();
    for (const [digest, holder] of this.known.entries()) {
      if (holder.clientId === clientId) {
        this.known.delete(digest);
      }
    }
  }

  /** Notifications may have been missed, so the whole cache is dropped. */
  private changeOfState(listening: boolean): void {
    this.isListening = listening;
    this.generation += 1;
    this.known.clear();
    this.unknown.clear();
    if (listening) {
      this.logger.log('Listening for key changes.');
    } else {
      this.logger.warn(
        `Key change notifications are not arriving. Keys are cached for ${BLIND_TTL_MS} ms only.`,
      );
    }
  }
}

function toHolder([, keyId, clientId, clientName, plan, perMinute, perDay, ...rest]: HolderRow): KeyHolder {
  const [scopes, last4, createdAt, expiresAt, overlapEndsAt, name] = rest;
  return {
    keyId: int8ToNumber(keyId),
    clientId: int8ToNumber(clientId),
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
  };
}

/** Shared by all requests, because these errors are the same for everybody. */
const MISSING = new MissingApiKeyError();
const INVALID = new InvalidApiKeyError();

/** How often last uses are saved. */
const INTERVAL_MS = 5_000;

/** Records when each key was last used; writes in batches. */
@Injectable()
export class KeyUse implements BeforeApplicationShutdown {
  private readonly lastUse: WriteBehind<number>;

  constructor(@InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>) {
    this.lastUse = new WriteBehind<number>({
      name: 'Saving last uses of keys',
      intervalMs: INTERVAL_MS,
      merge: Math.max,
      write: (batch) => this.write(batch),
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

const BEARER = /^bearer +(\S.*)$/i;

/**
 * The key in a request, unchecked: from X-API-Key or Authorization: Bearer, but not two different keys; null if there is none. Schemes other than Bearer are ignored.
 * @throws ApiError 400 `conflicting_credentials`
 */
export function presentedKey(headers: IncomingHttpHeaders): string | null {
  const field = headers['x-api-key'];
  const direct = typeof field === 'string' && field !== '' ? field : null;
  const bearer = headers.authorization ? (BEARER.exec(headers.authorization)?.[1]?.trimEnd() ?? null) : null;
  if (direct !== null && bearer !== null && direct !== bearer) {
    throw new ConflictingCredentialsError();
  }
  return direct ?? bearer;
}
