// The rule of where a key may stand in a request: X-API-Key, or Authorization: Bearer, and never two different ones.
import type { IncomingHttpHeaders } from 'node:http';
import { ConflictingCredentialsError } from './auth.errors';

const BEARER = /^bearer +(\S.*)$/i;

/**
 * The key that a request carries, unchecked; null without one. Another scheme than Bearer carries no key.
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
