import {
  type ExecutionContext,
  Inject,
  Injectable,
  SetMetadata,
  type Type,
  applyDecorators,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ThrottlerGuard, type ThrottlerRequest, normalizeIp } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import { Clock } from '#libs/clock';
import { type ApiError, Documented, UnavailableError, plainAddress } from '#libs/http';
import { Authenticator, type Caller, RequiresKey } from '../auth';
import { ApiKeyBannedError, DailyQuotaExceededError, limitErrorOf } from './rate-limit-errors';
import { type Decision, NOTHING_TAKEN, rateLimitHeaders, type Standing } from './rules/decision';
import { ADDRESS_LIMITS, limitsOf, UnknownPlanError } from './rules/limits';
import { type AddressSubject, QuotaStore, type Subject } from './stores/quota-store';

/** The decision on one request, and what its response reports. */
export interface Admission {
  subject: Subject;
  /** The error for a request over the limit or with a banned key. */
  refusal: ApiError | null;
  decision: Decision;
  /** Whether the request has been refunded, which happens at most once. */
  isRefunded: boolean;
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
    const refusal = decision.outcome === 'allowed' ? null : limitErrorOf(decision);
    request.admission = { subject, refusal, decision, isRefunded: false };
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
    return rateLimitHeaders(standing, this.clock.now(), admission.decision.exhausted);
  }

  /** The headers for what could not be read as a request, which is not counted. */
  async headersForAddress(ip: string): Promise<Record<string, string>> {
    const standing = await this.store.look(addressSubject(ip));
    return rateLimitHeaders(standing, standing.decidedAt, null);
  }

  private async standingAfter(admission: Admission, status: number): Promise<Standing> {
    const { subject, decision } = admission;
    const isTaken = decision.takenAt !== NOTHING_TAKEN;
    try {
      // 304 and 5xx responses use no quota.
      if (isTaken && !admission.isRefunded && (status === 304 || status >= 500)) {
        admission.isRefunded = true;
        return await this.store.refund(subject, decision);
      }
      // Other requests of the sender were counted while this one waited.
      if (isTaken && this.clock.now() - decision.decidedAt > OUTDATED_MS) {
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
      // Without a sender, its key could not be looked up now; perhaps it was known before.
      return await this.store.look(request.sender ?? subjectOf(request.caller, request.ip));
    } catch {
      // The cause has already been reported.
      return this.store.look(addressSubject(request.ip));
    }
  }
}

/** Whom a request counts for. Identifies the caller when it is asked for the first time. */
async function senderOf(request: FastifyRequest, authenticator: Authenticator): Promise<Subject> {
  if (request.sender === undefined) {
    await authenticator.identify(request);
    request.sender = subjectOf(request.caller, request.ip);
  }
  return request.sender;
}

/** The limiter's decision in metrics: `minute` and `day` are the windows whose limit refused the request. */
export const LIMITER_DECISIONS = ['allowed', 'minute', 'day', 'banned'] as const;
export type LimiterDecision = (typeof LIMITER_DECISIONS)[number];

export function limiterDecisionOf({ decision }: Admission): LimiterDecision {
  return decision.exhausted ?? (decision.outcome === 'banned' ? 'banned' : 'allowed');
}

/** IPv6 addresses count by /56, which is what a household or a company usually gets. */
const IPV6_PREFIX = 56;

/** All invalid addresses share one quota; otherwise each text that a proxy forwards would get its own. */
const NO_ADDRESS = 'unknown';

function subjectOf(caller: Caller | undefined, ip: string): Subject {
  if (!caller?.holder) {
    return addressSubject(ip);
  }
  const { clientId, keyId, ban, resetAt } = caller.holder;
  try {
    return { kind: 'client', clientId, keyId, limits: limitsOf(caller.holder), ban, resetAt };
  } catch (error) {
    throw error instanceof UnknownPlanError ? new UnavailableError(error.message) : error;
  }
}

/** An IPv6 address counts by its /56, an IPv4-mapped one as its IPv4 address. */
export function addressSubject(ip: string): AddressSubject {
  const address = normalizeIp(plainAddress(ip) || NO_ADDRESS, IPV6_PREFIX);
  return { kind: 'address', address, limits: ADDRESS_LIMITS };
}

const COUNTED_ONLY_WITHOUT_KEY = 'quotas:counted-only-without-key';

/**
 * The operation needs a valid key, whatever its scopes. Requests with one use no quota and ignore limits and bans. Others
 * count, because each forged key costs a database lookup.
 */
export function CountedOnlyWithoutKey(): MethodDecorator {
  return applyDecorators(
    RequiresKey(),
    SetMetadata(COUNTED_ONLY_WITHOUT_KEY, true),
    // Addresses have no daily limit and no bans.
    Documented({ never: [ApiKeyBannedError, DailyQuotaExceededError] }),
  );
}

/** How the names of the package's metadata start, and ours. */
const NAMES = /^(THROTTLER|quotas):/;

/** Remembers which handlers have metadata for the guard. The package asks for it seven times for each request. */
@Injectable()
export class HandlerMetadata extends Reflector {
  private readonly decorated = new Map<Type, boolean>();

  override getAllAndOverride = (key: unknown, targets: Type[]): never => {
    const [handler] = targets;
    let isDecorated = this.decorated.get(handler!);
    if (isDecorated === undefined) {
      const names = targets.flatMap((target) => Reflect.getMetadataKeys(target) as unknown[]);
      isDecorated = names.some((name) => NAMES.test(String(name)));
      this.decorated.set(handler!, isDecorated);
    }
    return (isDecorated ? super.getAllAndOverride(key, targets) : undefined) as never;
  };
}

/**
 * First guard: counts the request, and refuses it over the limit or with a banned key. The package's own storage would take
 * one window after the other, so that a request refused by the day would use up the minute, and its headers have other
 * meanings.
 */
@Injectable()
export class PlanThrottlerGuard extends ThrottlerGuard {
  @Inject() private readonly limiter!: RequestLimiter;
  @Inject() private readonly authenticator!: Authenticator;

  protected override async shouldSkip(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context);
    // Not counted, unless `handleRequest` follows.
    request.admission = null;
    const targets = [context.getHandler(), context.getClass()];
    if (!this.reflector.getAllAndOverride<boolean | undefined>(COUNTED_ONLY_WITHOUT_KEY, targets)) {
      return false;
    }
    await this.getTracker(request);
    return request.caller!.holder !== null;
  }

  /** Identifies the caller. @returns the client or the address whose requests count together */
  protected override async getTracker(request: FastifyRequest): Promise<string> {
    const subject = await senderOf(request, this.authenticator);
    return subject.kind === 'client' ? `client ${subject.clientId}` : subject.address;
  }

  /** Takes the request from both windows, in one step. */
  protected override async handleRequest({ context, getTracker }: ThrottlerRequest): Promise<boolean> {
    const request = requestOf(context);
    await getTracker(request, context);
    const { refusal } = await this.limiter.admit(request);
    if (refusal !== null) {
      await this.throwThrottlingException(context);
    }
    return true;
  }

  protected override throwThrottlingException(context: ExecutionContext): Promise<void> {
    return Promise.reject(requestOf(context).admission!.refusal!);
  }
}

function requestOf(context: ExecutionContext): FastifyRequest {
  return context.switchToHttp().getRequest<FastifyRequest>();
}
