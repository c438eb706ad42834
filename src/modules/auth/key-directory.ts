import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Database, NotificationListener, type SharedRead, int8ToNumber } from '#libs/database';
import type { KeyHolder, Scope } from './caller';

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
