import type { ApiError } from '#libs/errors';

export const SCOPES = ['read', 'write'] as const;
export type Scope = (typeof SCOPES)[number];

/** What is known of a valid key: who is behind it and what it may do. */
export interface KeyHolder {
  keyId: number;
  clientId: number;
  clientName: string;
  plan: string;
  /** The client's own limits, for a plan that has none of its own. */
  perMinute: number | null;
  perDay: number | null;
  scopes: readonly Scope[];
  /** The end of the key, to tell it by. */
  last4: string;
  /** Unix milliseconds. */
  createdAt: number;
  /** Infinity for a key that does not expire. */
  expiresAt: number;
  /** Until when a key that was rotated works beside the new one; null for any other key. */
  overlapEndsAt: number | null;
}

/** Whoever sent a request: the holder of a valid key, or nobody we know, with the reason why. */
export type Caller = { holder: KeyHolder; refusal: null } | { holder: null; refusal: ApiError };

declare module 'fastify' {
  interface FastifyRequest {
    /** Set when the request arrives. */
    caller?: Caller;
  }
}
