import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Clock } from '#libs/clock';
import type { ApiError } from '#libs/errors';
import { type Decision, NOTHING_TAKEN } from './rules/decision';
import { ApiKeyBannedError, DailyQuotaExceededError, RateLimitExceededError } from './quotas.errors';
import { rateLimitHeaders } from './rules/rate-limit-headers';
import type { WindowName, WindowStanding } from './rules/rate-window';
import { QuotaStore, type Receipt, type Standing, type Taken } from './counting/quota-store';
import { type Subject, addressSubject, subjectOf } from './counting/subject';

/** What the limits say of one request, and what its answer reports. */
export interface Verdict {
  subject: Subject;
  /** The answer to a request that is over the limit, or whose key is banned. */
  refusal: ApiError | null;
  standings: WindowStanding[];
  exhausted: WindowName | null;
  /** What refunds the request; its `takenAt` is NOTHING_TAKEN for one that was refused or refunded already. */
  receipt: Receipt;
  /** How far the clock of whoever counts is ahead of ours, in milliseconds. */
  clockOffset: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set for every request that is counted, when it arrives. */
    verdict?: Verdict;
  }
}

/** After so long, the limits are looked at again before the answer says how they stand. */
const OUTDATED_MS = 1_000;

/** An answer with this status does not use quota: nothing was sent that the caller did not have, or we failed. */
function isRefunded(status: number): boolean {
  return status === 304 || status >= 500;
}

/** Follows one request through the limits: taken when it comes in, settled when its status is known. */
@Injectable()
export class RequestLimiter {
  constructor(
    private readonly store: QuotaStore,
    private readonly clock: Clock,
  ) {}

  /** Takes the request from the limits of whoever sent it; the refusal if that was not possible. */
  take(request: FastifyRequest): ApiError | null | Promise<ApiError | null> {
    const subject = subjectOf(request.caller, request.ip);
    const taken = this.store.take(subject);
    return taken instanceof Promise
      ? taken.then((decision) => this.note(request, subject, decision))
      : this.note(request, subject, taken);
  }

  /** The header fields of an answer with this status. Refunds the request first where that is due, so that they are true. */
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
          // Whoever counts has gone away meanwhile; what it said last is the best there is to say.
          () => this.headersOf(verdict),
        )
      : this.headersOf({ ...verdict, standings: refunded.standings });
  }

  /**
   * Counts what never became a request, by the address it came from.
   * @returns the refusal if the address is over its limit, and the header fields
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

  /** While the request waited, others of its sender were counted. */
  private async headersOfOutdated(verdict: Verdict): Promise<Record<string, string>> {
    // As with refunds, what was said last is the best there is if whoever counts has gone away.
    const { standings } = await Promise.resolve(this.store.look(verdict.subject)).catch(() => verdict);
    return this.headersOf({ ...verdict, standings });
  }

  private async headersOfUncounted(request: FastifyRequest): Promise<Record<string, string>> {
    const standing = await this.standingOf(request);
    return this.headersOf({ ...standing, exhausted: null, clockOffset: this.offsetTo(standing) });
  }

  /** The sender's standing; its address's when that cannot be read, since the very failure to read it is answered too. */
  private async standingOf(request: FastifyRequest): Promise<Standing> {
    try {
      return await this.store.look(subjectOf(request.caller, request.ip));
    } catch {
      // Only an answer to a failure comes this far; its own cause has been told of already.
      return this.store.look(addressSubject(request.ip));
    }
  }

  private headersOf(
    verdict: Pick<Verdict, 'standings' | 'exhausted' | 'clockOffset'>,
  ): Record<string, string> {
    return rateLimitHeaders(verdict.standings, this.clock.now() + verdict.clockOffset, verdict.exhausted);
  }

  private note(request: FastifyRequest, subject: Subject, decision: Taken): ApiError | null {
    const { standings, exhausted } = decision;
    const clockOffset = this.offsetTo(decision);
    const refusal = refusalOf(decision);
    request.verdict = { subject, refusal, standings, exhausted, receipt: decision, clockOffset };
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

/** Refusals of addresses, by the seconds to wait: they say nothing else, and are most of what a flood is answered. */
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
