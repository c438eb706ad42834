import { isIP } from 'node:net';
import { Injectable } from '@nestjs/common';
import { normalizeIp } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import { Clock } from '#libs/clock';
import { type ApiError, defineError } from '#libs/http';
import { Authenticator, type Caller } from '../auth';
import {
  type BanState,
  type Decision,
  NOTHING_TAKEN,
  newBanState,
  nextBanMs,
  rateLimitHeaders,
  refusalsBeforeBan,
  type Standing,
} from './rules/decision';
import { ADDRESS_LIMITS, limitsOf } from './rules/limits';
import { type AddressSubject, QuotaStore, type Subject } from './stores/quota-store';

/** Warns a key before a ban. Addresses are never banned. */
function warning(bans: Readonly<BanState> | null, now: number): string {
  if (bans === null) {
    return '';
  }
  const left = refusalsBeforeBan(bans, now);
  const requests = left === 1 ? '1 more refused request' : `${left} more refused requests`;
  return ` ${requests} within 60 seconds of the first one will ban the key for ${nextBanMs(bans, now) / 1000} seconds.`;
}

const retryAfter = (seconds: number) => ({ 'Retry-After': String(seconds) });

export const RateLimitExceededError = defineError({
  code: 'rate_limit_exceeded',
  status: 429,
  when: 'The limit of requests per minute is reached. Wait for `Retry-After` seconds.',
  message: (seconds: number, warning: string) =>
    `The limit of requests per minute is reached. Try again in ${seconds} seconds.${warning}`,
  headers: retryAfter,
  example: [42, warning(newBanState(), 0)],
});

export const DailyQuotaExceededError = defineError({
  code: 'daily_quota_exceeded',
  status: 429,
  when: 'The limit of requests per day is reached. Wait for `Retry-After` seconds, until midnight UTC.',
  message: (seconds: number, warning: string) =>
    `The limit of requests per day is reached. Try again in ${seconds} seconds.${warning}`,
  headers: retryAfter,
  example: [40_211, warning(newBanState(), 0)],
});

export const ApiKeyBannedError = defineError({
  code: 'api_key_banned',
  status: 403,
  when: 'The API key is banned, for its requests after a 429 or by an operator; the message says which. Wait for `Retry-After` seconds.',
  message: (seconds: number, byOperator: boolean) => {
    const cause = byOperator
      ? 'An operator of this service has banned the API key.'
      : 'The API key is banned because it kept sending requests after a 429.';
    return `${cause} Try again in ${seconds} seconds.`;
  },
  headers: retryAfter,
  example: [120, false],
});

/** The decision on one request, and what its response reports. */
export interface Admission {
  subject: Subject;
  /** The error for a request over the limit or with a banned key. */
  refusal: ApiError | null;
  decision: Decision;
  /** Whether the request has been refunded, which happens at most once. */
  isRefunded: boolean;
  /** How far the counter's clock is ahead of ours, in milliseconds. */
  clockOffset: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Whom the request counts for; set once its caller is identified. */
    sender?: Subject;
    /** Absent until the throttler's guard has seen the request; null if it is not counted. */
    admission?: Admission | null;
  }
}

/** After this, the standing is read again before the response reports it. */
const OUTDATED_MS = 1_000;

/** Counts a request once, and refunds it depending on its status. */
@Injectable()
export class RequestLimiter {
  constructor(
    private readonly store: QuotaStore,
    private readonly authenticator: Authenticator,
    private readonly clock: Clock,
  ) {}

  /**
   * Identifies who sends the request, takes it from both windows, and remembers the decision on the request. A request that
   * is already admitted is not counted again.
   */
  async admit(request: FastifyRequest): Promise<Admission> {
    if (request.admission) {
      return request.admission;
    }
    const subject = await senderOf(request, this.authenticator);
    const decision = await this.store.take(subject);
    const clockOffset = decision.decidedAt - this.clock.now();
    const refusal = refusalOf(decision);
    request.admission = { subject, refusal, decision, isRefunded: false, clockOffset };
    return request.admission;
  }

  /** The rate limit headers for a response with this status. Refunds the request first if it is due. */
  async headersFor(request: FastifyRequest, status: number): Promise<Record<string, string>> {
    const { admission } = request;
    if (!admission) {
      const standing = await this.standingOf(request);
      return rateLimitHeaders(standing, standing.decidedAt, null);
    }
    const standing = await this.standingAfter(admission, status);
    return rateLimitHeaders(standing, this.clock.now() + admission.clockOffset, admission.decision.exhausted);
  }

  /** The headers for what could not be read as a request, which is not counted. */
  async headersForAddress(ip: string): Promise<Record<string, string>> {
    const standing = await this.store.look(addressSubject(ip));
    return rateLimitHeaders(standing, standing.decidedAt, null);
  }

  private async standingAfter(admission: Admission, status: number): Promise<Standing> {
    const { subject, decision, clockOffset } = admission;
    const { takenAt } = decision;
    try {
      // 304 and 5xx responses use no quota.
      if (takenAt !== NOTHING_TAKEN && !admission.isRefunded && (status === 304 || status >= 500)) {
        admission.isRefunded = true;
        return await this.store.refund(subject, decision);
      }
      // Other requests of the sender were counted while this one waited.
      if (takenAt !== NOTHING_TAKEN && this.clock.now() + clockOffset - takenAt > OUTDATED_MS) {
        return await this.store.look(subject);
      }
    } catch {
      // Redis has become unavailable, which is reported elsewhere. The last known standing is still good.
    }
    return decision;
  }

  /** The sender's standing, or that of its address if the former cannot be read. */
  private async standingOf(request: FastifyRequest): Promise<Standing> {
    try {
      return await this.store.look(request.sender ?? addressSubject(request.ip));
    } catch {
      // The cause has already been reported.
      return this.store.look(addressSubject(request.ip));
    }
  }
}

/** Whom a request counts for. Identifies the caller when it is asked for the first time. */
export async function senderOf(request: FastifyRequest, authenticator: Authenticator): Promise<Subject> {
  if (request.sender === undefined) {
    await authenticator.identify(request);
    request.sender = subjectOf(request.caller, request.ip);
  }
  return request.sender;
}

function refusalOf({ outcome, exhausted, bans, decidedAt, retryAfterSeconds }: Decision): ApiError | null {
  if (outcome === 'allowed') {
    return null;
  }
  if (outcome === 'banned') {
    return new ApiKeyBannedError(retryAfterSeconds, bans!.byOperator);
  }
  const LimitError = exhausted === 'day' ? DailyQuotaExceededError : RateLimitExceededError;
  return new LimitError(retryAfterSeconds, warning(bans, decidedAt));
}

/** The limiter's decision in metrics: `minute` and `day` are the windows whose limit refused the request. */
export const LIMITER_DECISIONS = ['allowed', 'minute', 'day', 'banned'] as const;
export type LimiterDecision = (typeof LIMITER_DECISIONS)[number];

export function limiterDecisionOf({ decision }: Admission): LimiterDecision {
  return decision.exhausted ?? (decision.outcome === 'banned' ? 'banned' : 'allowed');
}

/** IPv6 addresses count by /56, which is what a household or a company usually gets. */
const IPV6_PREFIX = 56;

/** Proxies may add a port and brackets. */
const WITH_PORT = /^(?:\[([^\]]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/;
/** All invalid addresses share one quota; otherwise each text that a proxy forwards would get its own. */
const NO_ADDRESS = 'unknown';

function subjectOf(caller: Caller | undefined, ip: string): Subject {
  if (!caller?.holder) {
    return addressSubject(ip);
  }
  const { clientId, keyId, ban, resetAt } = caller.holder;
  return { kind: 'client', clientId, keyId, limits: limitsOf(caller.holder), ban, resetAt };
}

/** An IPv6 address counts by its /56, an IPv4-mapped one as its IPv4 address. */
export function addressSubject(ip: string): AddressSubject {
  const address = isIP(ip) === 0 ? withoutPort(ip) : ip;
  return { kind: 'address', address: normalizeIp(address, IPV6_PREFIX), limits: ADDRESS_LIMITS };
}

function withoutPort(text: string): string {
  const [, ipv6, ipv4] = WITH_PORT.exec(text) ?? [];
  const address = ipv6 ?? ipv4 ?? '';
  return isIP(address) === 0 ? NO_ADDRESS : address;
}
