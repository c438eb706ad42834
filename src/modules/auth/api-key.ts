import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { CallerId } from '#libs/database';
import type { ApiError } from '#libs/http';
import type { ApiKey, Scope } from './api-key.entity';

/** The last ban of a key, as stored in the database. The ban may have ended. */
export interface StoredBan {
  /**
   * Level right after the last ban, from 0 to 5. A higher level makes the next ban longer. The level falls with time:
   * `banLevel` of the quotas module returns the present level.
   */
  level: number;
  bannedUntil: number;
  byOperator: boolean;
  /**
   * When the ban was last changed in the database. The ban is also copied to Redis or to the memory of each instance.
   * If the time in the database is later than the time of a copy, the ban in the database replaces the copy.
   */
  changedAt: number;
}

export interface ClientKey {
  id: number;
  clientId: CallerId;
  clientName: string;
  name: string | null;
  plan: string;
  perMinute: number | null;
  perDay: number | null;
  scopes: readonly Scope[];
  last4: string;
  /** When the key was created, in unix milliseconds. All times of this interface have this unit. */
  createdAt: number;
  expiresAt: number | null;
  overlapEndsAt: number | null;
  ban: StoredBan;
  /** When an operator last reset the client's limits; 0 if never. */
  resetAt: number;
}

export type Identity = { key: ClientKey; refusal: null } | { key: null; refusal: ApiError };

// An API key consists of `psk_live_`, 30 random base62 characters, and a checksum of six characters. With the checksum,
// a mistyped key is detected without asking the database.
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

export function newApiKey(): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => ALPHABET[randomInt(62)]).join('');
  return `${PREFIX}${random}${checksumOf(random)}`;
}

export function isWellFormedKey(text: string): boolean {
  const random = text.slice(PREFIX.length, PREFIX.length + RANDOM_LENGTH);
  return KEY_SHAPE.test(text) && checksumOf(random) === text.slice(-CHECKSUM_LENGTH);
}

/** Returns the SHA-256 of a key in base64url. A fast hash is safe, because keys are random and cannot be guessed. */
export function digestOf(key: string): string {
  return hash('sha256', key, 'base64url');
}

type KeyState = 'active' | 'banned' | 'expired' | 'revoked';

export function describeKey(key: ApiKey, now: number) {
  return {
    id: key.id,
    client: key.client.name,
    name: key.name,
    endsWith: key.last4,
    state: stateOf(key, now),
    scopes: key.scopes,
    createdAt: key.createdAt,
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

export function banEndOf({ bannedUntil }: Pick<ApiKey, 'bannedUntil'>, now: number): Date | null {
  return bannedUntil !== null && now < bannedUntil.getTime() ? bannedUntil : null;
}
