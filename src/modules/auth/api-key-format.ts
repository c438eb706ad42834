// The format of an API key: `psk_live_`, 30 random base62 characters and 6 that encode their CRC32.
// The checksum rejects a mistyped key without a database lookup.
import { hash, randomInt } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { crc32 } from 'node:zlib';
import { ConflictingCredentialsError } from './api-key.guard';

const PREFIX = 'psk_live_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const SHAPE = /^psk_live_[0-9A-Za-z]{36}$/;

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
  if (!SHAPE.test(text)) {
    return false;
  }
  const random = text.slice(PREFIX.length, PREFIX.length + RANDOM_LENGTH);
  return checksumOf(random) === text.slice(-CHECKSUM_LENGTH);
}

/** The stored form of a key: its SHA-256 in base64url. Keys are random enough to need no slow hash. */
export function digestOf(key: string): string {
  return hash('sha256', key, 'base64url');
}

// Where a request may carry its key: X-API-Key or Authorization: Bearer, but not two different keys.

const BEARER = /^bearer +(\S.*)$/i;

/**
 * The key in a request, unchecked; null if there is none. Schemes other than Bearer are ignored.
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
