import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { ApiError } from '#libs/http';
import type { ApiKey, Scope } from './api-key.entity';

/** A valid key: whose it is and what it may do. */
export interface ClientKey {
  id: number;
  clientId: number;
  clientName: string;
  /** What the key is for, in the operator's words. */
  name: string | null;
  plan: string;
  /** The limits agreed with the client, for a plan without fixed limits. */
  perMinute: number | null;
  perDay: number | null;
  scopes: readonly Scope[];
  /** The last four characters of the key. */
  last4: string;
  /** Unix milliseconds. */
  createdAt: number;
  /** Null for a key that does not expire. */
  expiresAt: number | null;
  /** When the overlap of a rotation ends; null for a key that was not rotated. */
  overlapEndsAt: number | null;
  /** The key's last ban, for the quotas. `changedAt` increases with each change, so that an older state replaces no newer one. */
  ban: { level: number; bannedUntil: number; byOperator: boolean; changedAt: number };
  /** The last reset of the client's limits, for the quotas; 0 for never. */
  resetAt: number;
}

/** The valid key of a request, or why it has none. */
export type Identity = { key: ClientKey; refusal: null } | { key: null; refusal: ApiError };

// The format of an API key: `psk_live_`, 30 random base62 characters and 6 that encode their CRC32.
// The checksum rejects a mistyped key without a database lookup.
const PREFIX = 'psk_live_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
export const KEY_SHAPE = /^psk_live_[0-9A-Za-z]{36}$/;

function checksumOf(random: string): string {
  let rest = crc32(random);
  let digits = '';
  for (let place = 0; place < CHECKSUM_LENGTH; place += 1) {
    digits = ALPHABET[rest % 62]! + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** A new key: 178 bits from the system's random source. */
export function newApiKey(): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => ALPHABET[randomInt(62)]).join('');
  return `${PREFIX}${random}${checksumOf(random)}`;
}

/** Checks the format and the checksum, not whether the key was ever issued. */
export function isWellFormedKey(text: string): boolean {
  const random = text.slice(PREFIX.length, PREFIX.length + RANDOM_LENGTH);
  return KEY_SHAPE.test(text) && checksumOf(random) === text.slice(-CHECKSUM_LENGTH);
}

/** The stored form of a key: its SHA-256 in base64url. Keys are random enough to need no slow hash. */
export function digestOf(key: string): string {
  return hash('sha256', key, 'base64url');
}

type KeyState = 'active' | 'banned' | 'expired' | 'revoked';

/** What operators may see of a key, never the key itself. */
export function describeKey(key: ApiKey, now = Date.now()) {
  return {
    id: key.id,
    client: key.client.name,
    name: key.name,
    endsWith: key.last4,
    state: stateOf(key, now),
    scopes: key.scopes,
    createdAt: key.createdAt,
    // What is revoked no longer expires.
    expiresAt: key.revokedAt === null ? key.expiresAt : null,
    lastUsedAt: key.lastUsedAt,
  };
}

export function stateOf(key: ApiKey, now: number): KeyState {
  if (key.revokedAt !== null) {
    return 'revoked';
  }
  if (key.expiresAt !== null && key.expiresAt.getTime() <= now) {
    return 'expired';
  }
  return banEndOf(key, now) === null ? 'active' : 'banned';
}

/** When the ban of a key ends; null if it is not banned. */
export function banEndOf({ bannedUntil }: Pick<ApiKey, 'bannedUntil'>, now = Date.now()): Date | null {
  return bannedUntil !== null && now < bannedUntil.getTime() ? bannedUntil : null;
}
