// Signing secrets: their format, and how long a replaced one stays valid.
import { randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';
/** Standard Webhooks 1.0 allows 24 to 64. */
const BYTES = 32;
const OVERLAP_MS = 24 * 3_600_000;
/** The current secret and those replaced within the overlap. Each adds a signature to every delivery. */
const MAX_SECRETS = 5;

/** An encrypted secret. */
export interface KeptSecret {
  sealed: string;
  /** RFC 3339; null for the current one. */
  until: string | null;
}

export function newSecret(): string {
  return PREFIX + randomBytes(BYTES).toString('base64');
}

/** @returns the secrets after a rotation, the newest first */
export function rotated(secrets: readonly KeptSecret[], sealed: string, now: Date): KeptSecret[] {
  const until = new Date(now.getTime() + OVERLAP_MS).toISOString();
  const replaced = validSecrets(secrets, now).map((secret) => ({ ...secret, until: secret.until ?? until }));
  return [{ sealed, until: null }, ...replaced].slice(0, MAX_SECRETS);
}

export function validSecrets(secrets: readonly KeptSecret[], now: Date): KeptSecret[] {
  return secrets.filter(({ until }) => until === null || Date.parse(until) > now.getTime());
}
