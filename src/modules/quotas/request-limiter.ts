import { Injectable } from '@nestjs/common';
import { normalizeIp } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import { Clock } from '#libs/clock';
import { type ApiError, plainAddress, OperatorActionNeededError } from '#libs/http';
import { Authenticator, type Identity, MISSING_KEY } from '../auth';
import { limitErrorOf } from './limit-errors';
import { type Decision, rateLimitHeaders } from './rules/decision';
import { ADDRESS_LIMITS, limitsOf } from './rules/limits';
import { type LimitSubject, QuotaCounters } from './counters/quota-counters';

type RequestClient = Identity &
  LimitSubject & {
    /** The counts after this request, for the rate limit headers. Undefined if the request was not counted. */
    decision?: Decision;
    isRefunded?: boolean;
  };

declare module 'fastify' {
  interface FastifyRequest {
    /** The client whose limits the request uses. Without a valid key, this client stands for the IP address of the caller. */
    client?: RequestClient;
  }
}

/**
 * If a request takes longer than this many milliseconds, the counts of its client are read again for the rate limit
 * headers.
 */
const OUTDATED_MS = 1_000;

@Injectable()
export class RequestLimiter {
  constructor(
    private readonly counters: QuotaCounters,
    private readonly authenticator: Authenticator,
    private readonly clock: Clock,
  ) {}

  /**
   * Identifies the client of a request, and counts the request. An operation with `CountedOnlyWithoutKey` is an exception:
   * its requests with a valid key are not counted.
   * @throws ApiError 429 or 403 if a limit or a ban refuses the request
   */
  async admit(request: FastifyRequest): Promise<void> {
    const client = await this.identify(request);
    if (client.key !== null && request.routeOptions.config.isCountedOnlyWithoutKey) {
      return;
    }
    client.decision = await this.counters.take(client);
    if (client.decision.outcome !== 'allowed') {
      throw limitErrorOf(client.decision);
    }
  }

  /**
   * Returns the rate limit headers of a response whose status is final. Before that, refunds the request if the status
   * is 304 or 5xx.
   */
  async settle({ client, ip }: FastifyRequest, status: number): Promise<Record<string, string>> {
    if (client === undefined) {
      return this.headersOfAddress(ip);
    }
    const current =
      client.decision === undefined
        ? // If the client's counts cannot be read, report the counts of the IP address, which do not depend on the database.
          await this.counters.read(client).catch(() => this.counters.read(anonymousClient(ip)))
        : await this.decisionAfter(client, client.decision, status);
    return rateLimitHeaders(current, this.clock.now());
  }

  /** Returns the rate limit headers of a response to an unidentified client, with the limit of the IP address. */
  async headersOfAddress(ip: string): Promise<Record<string, string>> {
    return rateLimitHeaders(await this.counters.read(anonymousClient(ip)), this.clock.now());
  }

  /**
   * Sets `request.client`. If the database fails, takes the client from the cache and then rejects, so that the error
   * response can show the client's rate limits.
   */
  private async identify(request: FastifyRequest): Promise<RequestClient> {
    try {
      request.client ??= clientOf(await this.authenticator.identify(request), request.ip);
      return request.client;
    } catch (failure) {
      request.client = clientOf(this.authenticator.lastKnown(request), request.ip);
      throw failure;
    }
  }

  private async decisionAfter(client: RequestClient, decision: Decision, status: number): Promise<Decision> {
    if (decision.outcome !== 'allowed') {
      return decision;
    }
    try {
      if (!client.isRefunded && (status === 304 || status >= 500)) {
        client.isRefunded = true;
        return await this.counters.refund(client, decision);
      }
      if (this.clock.now() - decision.decidedAt > OUTDATED_MS) {
        return await this.counters.read(client);
      }
    } catch {
      // Ignore the error, because a response whose work is done must not fail for its headers. The headers then have the counts
      // from the start of the request. If a refund failed, the caller has lost one request of the limits.
    }
    return decision;
  }
}

function clientOf({ key, refusal }: Identity, ip: string): RequestClient {
  if (key === null) {
    return anonymousClient(ip, refusal);
  }
  try {
    return { key, refusal, tracker: `client:${key.clientId}`, limits: limitsOf(key) };
  } catch (error) {
    throw new OperatorActionNeededError((error as Error).message);
  }
}

export function anonymousClient(ip: string, refusal: ApiError = MISSING_KEY): RequestClient {
  return { key: null, refusal, tracker: `address:${countedAddress(ip)}`, limits: ADDRESS_LIMITS };
}

/** IPv6 addresses with the same first 56 bits share one limit, because providers usually assign a /56 to each household. */
const IPV6_PREFIX = 56;

/** All invalid addresses share one limit. Otherwise a caller could avoid the limit with invalid addresses in X-Forwarded-For. */
const NO_ADDRESS = 'unknown';

/**
 * Returns the text by which requests from an address are counted. An IPv4-mapped IPv6 address counts as its IPv4
 * address.
 */
export function countedAddress(ip: string): string {
  return normalizeIp(plainAddress(ip) || NO_ADDRESS, IPV6_PREFIX);
}
