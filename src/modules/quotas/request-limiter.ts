import { isIP } from 'node:net';
import { Inject, Injectable, applyDecorators } from '@nestjs/common';
import { normalizeIp } from '@nestjs/throttler';
import { THROTTLER_SKIP } from '@nestjs/throttler/dist/throttler.constants';
import type { FastifyRequest, RouteOptions } from 'fastify';
import { Clock } from '#libs/clock';
import { type ApiError, Documented, WithRouteConfig, routeOf } from '#libs/http';
import { SETTINGS, type Settings } from '../../settings';
import { type Caller, RequiresKey } from '../auth';
import { ApiKeyBannedError, DailyQuotaExceededError, RateLimitExceededError } from './quotas.errors';
import { type Decision, NOTHING_TAKEN, rateLimitHeaders } from './rules/decision';
import { ADDRESS_LIMITS, limitsOf } from './rules/limits';
import {
  type AddressSubject,
  QuotaStore,
  type Standing,
  type Subject,
  type Taken,
} from './stores/quota-store';

/** The limiter's decision on one request, and what its response reports. */
export interface Verdict {
  subject: Subject;
  /** The error for a request over the limit or with a banned key. */
  refusal: ApiError | null;
  decision: Taken;
  /** Whether the request has been refunded, which happens at most once. */
  isRefunded: boolean;
  /** How far the counter's clock is ahead of ours, in milliseconds. */
  clockOffset: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set when the request arrives, if it is counted. */
    verdict?: Verdict;
  }
}

/** After this, the standing is read again before the response reports it. */
const OUTDATED_MS = 1_000;

/** 304 and 5xx responses use no quota. */
function usesNoQuota(status: number): boolean {
  return status === 304 || status >= 500;
}

/** Counts a request when it arrives, and refunds it depending on its status. */
@Injectable()
export class RequestLimiter {
  constructor(
    private readonly store: QuotaStore,
    private readonly clock: Clock,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** When requests to its route are counted. */
  ruleOf(request: FastifyRequest): CountingRule {
    return (routeOf(request).config as CountingConfig).counted ?? 'always';
  }

  /** Counts the request against its sender's limits. @returns the error if it is refused */
  take(request: FastifyRequest): ApiError | null | Promise<ApiError | null> {
    const subject = subjectOf(request.caller, request.ip);
    const taken = this.store.take(subject);
    return taken instanceof Promise
      ? taken.then((decision) => this.note(request, subject, decision))
      : this.note(request, subject, taken);
  }

  /** The rate limit headers for a response with this status. Refunds the request first if it is due. */
  headersFor(
    request: FastifyRequest,
    status: number,
  ): Record<string, string> | Promise<Record<string, string>> {
    const { verdict } = request;
    if (!verdict) {
      return this.headersOfUncounted(request);
    }
    const { decision } = verdict;
    if (decision.takenAt === NOTHING_TAKEN || verdict.isRefunded || !usesNoQuota(status)) {
      return this.isOutdated(verdict) ? this.headersOfOutdated(verdict) : this.headersOf(verdict);
    }
    verdict.isRefunded = true;
    const refunded = this.store.refund(verdict.subject, decision);
    return refunded instanceof Promise
      ? refunded.then(
          ({ standings }) => this.headersOf(verdict, standings),
          // Redis has become unavailable; use the last known standing.
          () => this.headersOf(verdict),
        )
      : this.headersOf(verdict, refunded.standings);
  }

  /**
   * Counts malformed HTTP, which never became a request.
   * @param ip the address that it came from, which may be a proxy's
   * @returns the error if the address is over its limit, and the headers
   */
  async takeAddress(ip: string): Promise<{ refusal: ApiError | null; headers: Record<string, string> }> {
    const decision = await this.store.take(unreadableSubject(ip, this.settings.trustProxy.length > 0));
    const { standings, decidedAt, exhausted } = decision;
    return { refusal: refusalOf(decision), headers: rateLimitHeaders(standings, decidedAt, exhausted) };
  }

  private isOutdated({ decision, isRefunded, clockOffset }: Verdict): boolean {
    const { takenAt } = decision;
    return takenAt !== NOTHING_TAKEN && !isRefunded && this.clock.now() + clockOffset - takenAt > OUTDATED_MS;
  }

  /** Other requests of the sender were counted while this one waited. */
  private async headersOfOutdated(verdict: Verdict): Promise<Record<string, string>> {
    // As with refunds, fall back to the last known standing.
    const { standings } = await Promise.resolve(this.store.look(verdict.subject)).catch(
      () => verdict.decision,
    );
    return this.headersOf(verdict, standings);
  }

  private async headersOfUncounted(request: FastifyRequest): Promise<Record<string, string>> {
    const { standings, decidedAt } = await this.standingOf(request);
    return rateLimitHeaders(standings, decidedAt, null);
  }

  /** The sender's standing, or that of its address if the former cannot be read. */
  private async standingOf(request: FastifyRequest): Promise<Standing> {
    try {
      return await this.store.look(subjectOf(request.caller, request.ip));
    } catch {
      // The cause has already been reported.
      return this.store.look(addressSubject(request.ip));
    }
  }

  private headersOf(
    { decision, clockOffset }: Pick<Verdict, 'decision' | 'clockOffset'>,
    standings = decision.standings,
  ): Record<string, string> {
    return rateLimitHeaders(standings, this.clock.now() + clockOffset, decision.exhausted);
  }

  private note(request: FastifyRequest, subject: Subject, decision: Taken): ApiError | null {
    const refusal = refusalOf(decision);
    const clockOffset = decision.decidedAt - this.clock.now();
    request.verdict = { subject, refusal, decision, isRefunded: false, clockOffset };
    return refusal;
  }
}

function refusalOf(decision: Decision): ApiError | null {
  switch (decision.outcome) {
    case 'allowed':
      return null;
    case 'banned':
      return new ApiKeyBannedError(decision);
    case 'limited':
      return decision.exhausted === 'day'
        ? new DailyQuotaExceededError(decision)
        : new RateLimitExceededError(decision);
  }
}

/** The limiter's decision in metrics: `minute` and `day` are the windows whose limit refused the request. */
export const LIMITER_DECISIONS = ['allowed', 'minute', 'day', 'banned'] as const;
export type LimiterDecision = (typeof LIMITER_DECISIONS)[number];

/** The limiter's decision; null if the request was not counted. */
export function limiterDecisionOf({ verdict }: FastifyRequest): LimiterDecision | null {
  if (verdict === undefined) {
    return null;
  }
  return verdict.decision.exhausted ?? (verdict.decision.outcome === 'banned' ? 'banned' : 'allowed');
}

/** IPv6 addresses count by /56, which is what a household or a company usually gets. */
const IPV6_PREFIX = 56;

/** Proxies may add a port and brackets. */
const WITH_PORT = /^(?:\[([^\]]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/;
/** All invalid addresses share one quota; otherwise each text that a proxy forwards would get its own. */
const NO_ADDRESS = 'unknown';

export function subjectOf(caller: Caller | undefined, ip: string): Subject {
  if (!caller?.holder) {
    return addressSubject(ip);
  }
  const { holder } = caller;
  return { kind: 'client', clientId: holder.clientId, keyId: holder.keyId, limits: limitsOf(holder) };
}

/** An IPv6 address counts by its /56, an IPv4-mapped one as its IPv4 address. */
export function addressSubject(ip: string): AddressSubject {
  const address = isIP(ip) === 0 ? withoutPort(ip) : ip;
  return { kind: 'address', address: normalizeIp(address, IPV6_PREFIX), limits: ADDRESS_LIMITS };
}

/**
 * The sender of what could not be read as a request. Behind a proxy it names no caller, and is counted apart from the requests
 * that have the proxy's address.
 */
export function unreadableSubject(ip: string, isBehindProxy: boolean): AddressSubject {
  const subject = addressSubject(ip);
  return isBehindProxy ? { ...subject, address: `unreadable from ${subject.address}` } : subject;
}

function withoutPort(text: string): string {
  const [, ipv6, ipv4] = WITH_PORT.exec(text) ?? [];
  const address = ipv6 ?? ipv4 ?? '';
  return isIP(address) === 0 ? NO_ADDRESS : address;
}

/** When requests to a route are counted. Default: always, as unknown paths are. */
type CountingRule = 'always' | 'without a valid key' | 'never';

interface CountingConfig {
  counted?: CountingRule;
}

/**
 * The operation needs a valid key, whatever its scopes. Requests with one use no quota and ignore limits and bans. Others
 * count, because each forged key costs a database lookup.
 */
export function CountedOnlyWithoutKey(): MethodDecorator {
  return applyDecorators(
    RequiresKey(),
    WithRouteConfig({ counted: 'without a valid key' } satisfies CountingConfig),
    // Addresses have no daily limit and no bans.
    Documented({ never: [ApiKeyBannedError, DailyQuotaExceededError] }),
  );
}

/**
 * Notes on a route whether `@SkipThrottle` marks its handler, because requests are counted before Nest reads marks. Nest
 * wraps the handlers of paths with parameters; these are always counted.
 */
export function noteSkipped(route: RouteOptions): void {
  if (Reflect.getMetadata(`${THROTTLER_SKIP}minute`, route.handler) === true) {
    route.config = { ...route.config, counted: 'never' } as CountingConfig;
  }
}
