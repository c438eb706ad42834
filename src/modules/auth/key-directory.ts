import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Coalescer, Database, DatabaseUrl, NotificationListener, int8ToNumber } from '#libs/database';
import type { KeyHolder, Scope } from './caller';

/** Notified by triggers on the tables clients and api_keys; the payload is the client's id. */
const KEYS_CHANNEL = 'petstore_keys';

const MAX_BATCH = 500;
const MAX_KNOWN = 100_000;
const MAX_UNKNOWN = 10_000;
/** How long a change may go unnoticed without notifications. Changes must apply within a second, response included. */
const BLIND_TTL_MS = 700;

interface HolderRow {
  digest: string;
  key_id: string;
  client_id: string;
  client_name: string;
  plan: string;
  per_minute: number | null;
  per_day: number | null;
  scopes: Scope[];
  last4: string;
  created_at: Date;
  expires_at: Date | null;
  overlap_ends_at: Date | null;
}

const HOLDERS_BY_DIGEST = `
  SELECT k.digest, k.id AS key_id, c.id AS client_id, c.name AS client_name, c.plan, c.per_minute, c.per_day, k.scopes,
    k.last4, k.created_at, k.expires_at, k.overlap_ends_at
  FROM api_keys k JOIN clients c ON c.id = k.client_id
  WHERE k.digest = ANY($1) AND k.revoked_at IS NULL`;

/** Looks up keys: a bounded cache in front of the database, invalidated by its notifications. */
@Injectable()
export class KeyDirectory implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(KeyDirectory.name);
  private readonly known = new LRUCache<string, KeyHolder>({ max: MAX_KNOWN });
  private readonly unknown = new LRUCache<string, true>({ max: MAX_UNKNOWN });
  private readonly listener: NotificationListener;
  /** Cache statistics. */
  readonly uses = { hit: 0, miss: 0 };
  /** Increases with each change, so that a lookup which a change has overtaken is not cached. */
  private generation = 0;

  /** Batched: each forged key costs a lookup, and lookups must not use up the connection pool. */
  private readonly lookUps = new Coalescer<string, KeyHolder>({
    maxBatch: MAX_BATCH,
    loadMany: (digests) => this.readMany(digests),
  });

  constructor(
    private readonly database: Database,
    databaseUrl: DatabaseUrl,
  ) {
    this.listener = new NotificationListener({
      url: databaseUrl.value,
      channels: [KEYS_CHANNEL],
      onNotification: (clientId) => this.forget(Number(clientId)),
      onState: (listening) => this.changeOfState(listening),
    });
  }

  /** False while notifications do not arrive; the cache then keeps entries for less than a second. */
  get listening(): boolean {
    return this.listener.listening;
  }

  async onModuleInit(): Promise<void> {
    await this.listener.start();
  }

  /** Late in the shutdown, because requests in flight still need it. */
  async onApplicationShutdown(): Promise<void> {
    await this.listener.close();
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
    const holder = await this.lookUps.load(digest);
    // The data is as old as the start of the read.
    const ttl = this.listener.listening
      ? undefined
      : Math.floor(startedAt + BLIND_TTL_MS - performance.now());
    if (generation === this.generation && (ttl === undefined || ttl > 0)) {
      if (holder) {
        this.known.set(digest, holder, { ttl });
      } else {
        this.unknown.set(digest, true, { ttl });
      }
    }
    return holder;
  }

  private async readMany(digests: string[]): Promise<Map<string, KeyHolder>> {
    const rows = await this.database.query<HolderRow>(HOLDERS_BY_DIGEST, [digests]);
    return new Map(rows.map((row) => [row.digest, toHolder(row)]));
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

function toHolder(row: HolderRow): KeyHolder {
  return {
    keyId: int8ToNumber(row.key_id),
    clientId: int8ToNumber(row.client_id),
    clientName: row.client_name,
    plan: row.plan,
    perMinute: row.per_minute,
    perDay: row.per_day,
    scopes: row.scopes,
    last4: row.last4,
    createdAt: row.created_at.getTime(),
    expiresAt: row.expires_at?.getTime() ?? Infinity,
    overlapEndsAt: row.overlap_ends_at?.getTime() ?? null,
  };
}
