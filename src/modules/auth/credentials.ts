// Where a request may carry its key: X-API-Key or Authorization: Bearer, but not two different keys.
import type { IncomingHttpHeaders } from 'node:http';
import { ConflictingCredentialsError } from './auth.errors';

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
