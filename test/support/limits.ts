import type { RateLimitStatus } from '#libs/client';
import type { CallerId } from '#libs/database';
import type { ClientKey, StoredBan } from '../../src/modules/auth';
import type { Answer, ApiCaller, ErrorBody } from './api-caller';
import type { TestService } from './service';

export const MINUTE = 60_000;
export const HOUR = 3_600_000;

export const NEVER_BANNED: StoredBan = { level: 0, bannedUntil: 0, byOperator: false, changedAt: 0 };

export function aKey(id: number, clientId: number): ClientKey {
  const names = { clientName: `client-${clientId}`, name: null, last4: 'x7Qa' };
  const terms = { plan: 'free', perMinute: null, perDay: null, scopes: ['read', 'write'] } as const;
  const times = { createdAt: 0, expiresAt: null, overlapEndsAt: null, resetAt: 0 };
  return { id, clientId: clientId as CallerId, ...names, ...terms, ...times, ban: NEVER_BANNED };
}

/** The path of the cheapest operation that the limits count. */
export const COUNTED = '/categories';

/** The values of the rate limit header fields of an answer. */
export function limitsIn({ headers }: Answer<unknown>) {
  return {
    limit: Number(headers.get('x-ratelimit-limit')),
    remaining: Number(headers.get('x-ratelimit-remaining')),
    reset: Number(headers.get('x-ratelimit-reset')),
    policy: headers.get('ratelimit-policy'),
    state: headers.get('ratelimit'),
    retryAfter: headers.has('retry-after') ? Number(headers.get('retry-after')) : null,
  };
}

/** Sends the same request several times, each after the answer to the one before. */
export async function call<Body = never>(
  caller: ApiCaller,
  times: number,
  path = COUNTED,
): Promise<Answer<Body>[]> {
  const answers: Answer<Body>[] = [];
  for (let index = 0; index < times; index += 1) {
    answers.push(await caller.get<Body>(path));
  }
  return answers;
}

export async function statuses(caller: ApiCaller, times: number, path = COUNTED): Promise<number[]> {
  return (await call(caller, times, path)).map(({ status }) => status);
}

export async function getRateLimit(caller: ApiCaller): Promise<RateLimitStatus> {
  return (await caller.get<RateLimitStatus>('/rate-limit')).body;
}

/**
 * Sends requests of a caller until it is banned. The caller must have used up its limit, of at most 20 requests per minute.
 * The clocks move, because refusals count toward a ban from two seconds after the first one.
 * @returns the answer that bans the caller
 */
export async function earnBan(caller: ApiCaller, ...services: TestService[]): Promise<Answer<ErrorBody>> {
  const refused = await call<ErrorBody>(caller, 1);
  services.forEach(({ clock }) => clock.advance(2_000));
  refused.push(...(await call<ErrorBody>(caller, 11)));
  expect(refused.map(({ status }) => status)).toEqual([...Array<number>(11).fill(429), 403]);
  return refused.at(-1)!;
}
