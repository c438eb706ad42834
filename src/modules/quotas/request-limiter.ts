import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Clock } from '#libs/clock';
import type { ApiError } from '#libs/errors';
import { type Decision, NOTHING_TAKEN, type Outcome } from './rules/decision';
import { ApiKeyBannedError, DailyQuotaExceededError, RateLimitExceededError } from './quotas.errors';
import { rateLimitHeaders } from './rules/rate-limit-headers';
import type { WindowName, WindowStanding } from './rules/rate-window';
import { QuotaStore, type Receipt, type Standing, type Taken } from './counting/quota-store';
import { type Subject, addressSubject, subjectOf } from './counting/subject';

/** The limiter's decision on one request, and what its response reports. */
export interface Verdict {
  subject: Subject;
  /** The error for a request over the limit or with a banned key. */
  refusal: ApiError | null;
  outcome: Outcome;
  /** Level of the ban that this request triggered, 1 to 5; 0 for none. */
  earnedBanLevel: number;
  standings: WindowStanding[];
  exhausted: WindowName | null;
  /** For the refund; `takenAt` is NOTHING_TAKEN if the request was refused or already refunded. */
  receipt: Receipt;
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
function isRefunded(status: number): boolean {
  return status === 304 || status >= 500;
}

/** Counts a request when it arrives, and refunds it depending on its status. */
@Injectable()
export class RequestLimiter {
  constructor(
    private readonly store: QuotaStore,
    private readonly clock: Clock,
  ) {}

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
    const { receipt } = verdict;
    if (receipt.takenAt === NOTHING_TAKEN || !isRefunded(status)) {
      return this.isOutdated(verdict) ? this.headersOfOutdated(verdict) : this.headersOf(verdict);
    }
    verdict.receipt = { takenAt: NOTHING_TAKEN };
    const refunded = this.store.refund(verdict.subject, receipt);
    return refunded instanceof Promise
      ? refunded.then(
          ({ standings }) => this.headersOf({ ...verdict, standings }),
          // Redis has become unavailable; use the last known standing.
          () => this.headersOf(verdict),
        )
      : this.headersOf({ ...verdict, standings: refunded.standings });
  }

  /**
   * Counts malformed HTTP against the sender's address.
   * @returns the error if the address is over its limit, and the headers
   */
  async takeAddress(ip: string): Promise<{ refusal: ApiError | null; headers: Record<string, string> }> {
    const decision = await this.store.take(addressSubject(ip));
    return {
      refusal: refusalOf(decision),
      headers: this.headersOf({ ...decision, clockOffset: this.offsetTo(decision) }),
    };
  }

  private isOutdated({ receipt, clockOffset }: Verdict): boolean {
    const { takenAt } = receipt;
    return takenAt !== NOTHING_TAKEN && this.clock.now() + clockOffset - takenAt > OUTDATED_MS;
  }

  /** Other requests of the sender were counted while this one waited. */
  private async headersOfOutdated(verdict: Verdict): Promise<Record<string, string>> {
    // As with refunds, fall back to the last known standing.
    const { standings } = await Promise.resolve(this.store.look(verdict.subject)).catch(() => verdict);
    return this.headersOf({ ...verdict, standings });
  }

  private async headersOfUncounted(request: FastifyRequest): Promise<Record<string, string>> {
    const standing = await this.standingOf(request);
    return this.headersOf({ ...standing, exhausted: null, clockOffset: this.offsetTo(standing) });
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
    verdict: Pick<Verdict, 'standings' | 'exhausted' | 'clockOffset'>,
  ): Record<string, string> {
    return rateLimitHeaders(verdict.standings, this.clock.now() + verdict.clockOffset, verdict.exhausted);
  }

  private note(request: FastifyRequest, subject: Subject, decision: Taken): ApiError | null {
    const { outcome, earnedBanLevel, standings, exhausted } = decision;
    const clockOffset = this.offsetTo(decision);
    const refusal = refusalOf(decision);
    request.verdict = {
      subject,
      refusal,
      outcome,
      earnedBanLevel,
      standings,
      exhausted,
      receipt: decision,
      clockOffset,
    };
    return refusal;
  }

  private offsetTo({ decidedAt }: { decidedAt: number }): number {
    return decidedAt - this.clock.now();
  }
}

function refusalOf(decision: Decision): ApiError | null {
  switch (decision.outcome) {
    case 'allowed':
      return null;
    case 'banned':
      return new ApiKeyBannedError(decision);
    case 'limited':
      return decision.exhausted === 'day' ? new DailyQuotaExceededError(decision) : ofTheMinute(decision);
  }
}

/** Cached errors for addresses, by seconds to wait: during a flood most responses are these. */
const REFUSED_ADDRESSES = new Map<number, ApiError>();

function ofTheMinute(decision: Decision): ApiError {
  const { retryAfterSeconds, nextBanSeconds } = decision;
  if (nextBanSeconds > 0) {
    return new RateLimitExceededError(decision);
  }
  let refusal = REFUSED_ADDRESSES.get(retryAfterSeconds);
  if (refusal === undefined) {
    refusal = new RateLimitExceededError(decision);
    REFUSED_ADDRESSES.set(retryAfterSeconds, refusal);
  }
  return refusal;
}
