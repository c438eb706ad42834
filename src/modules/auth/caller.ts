import type { ApiError } from '#libs/http';

export const SCOPES = ['read', 'write'] as const;
export type Scope = (typeof SCOPES)[number];

/** A valid key: whose it is and what it may do. */
export interface KeyHolder {
  keyId: number;
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
  /** Infinity for a key that does not expire. */
  expiresAt: number;
  /** When the overlap of a rotation ends; null for a key that was not rotated. */
  overlapEndsAt: number | null;
}

/** The sender of a request: the holder of a valid key, or the reason why there is none. */
export type Caller = { holder: KeyHolder; refusal: null } | { holder: null; refusal: ApiError };

declare module 'fastify' {
  interface FastifyRequest {
    /** Set when the request arrives. */
    caller?: Caller;
  }
}
