import type { ApiKey } from './api-key.entity';

export type KeyState = 'active' | 'expired' | 'revoked';

/** What operators may see of a key, never the key itself. (A type alias, because interfaces do not fit a Record.) */
export type KeyDescription = {
  id: number;
  client: string;
  endsWith: string;
  state: KeyState;
  scopes: string[];
  createdAt: string;
  expiresAt: string | null;
  lastUsedAt: string | null;
};

export function describeKey(key: ApiKey, now: number): KeyDescription {
  return {
    id: key.id,
    client: key.client.name,
    endsWith: key.last4,
    state: stateOf(key, now),
    scopes: key.scopes,
    createdAt: key.createdAt.toISOString(),
    expiresAt: key.expiresAt?.toISOString() ?? null,
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
  };
}

function stateOf({ revokedAt, expiresAt }: ApiKey, now: number): KeyState {
  if (revokedAt !== null) {
    return 'revoked';
  }
  return expiresAt !== null && expiresAt.getTime() <= now ? 'expired' : 'active';
}
