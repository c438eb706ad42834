// Who sends a request, and the decision on it.
import { Injectable } from '@nestjs/common';
import { normalizeIp } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import { Clock } from '#libs/clock';
import { type ApiError, plainAddress, UnavailableError } from '#libs/http';
import { Authenticator, type Identity, MissingApiKeyError } from '../auth';
import { type QuotaStatus, rateLimitHeaders } from './rules/decision';
import { ADDRESS_LIMITS, limitsOf } from './rules/limits';
import { type LimitedClient, QuotaStore } from './stores/quota-store';

/** Who sends a request: the client of a valid key, or else an address. */
type RequestClient = Identity &
  LimitedClient & {
    /** For the header fields of the response; absent for a request that is not counted. */
    decision?: QuotaStatus;
    /** A request is refunded at most once. */
    isRefunded?: boolean;
  };

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the first guard, or by the exception filter for what fails before any guard. */
    client?: RequestClient;
  }
}

/** After this, the status is read again before the response reports it. */
const OUTDATED_MS = 1_000;

/** Identifies the client of a request, counts the request once, and refunds it depending on its status. */
@Injectable()
export class RequestLimiter {
  constructor(
    private readonly store: QuotaStore,
    private readonly authenticator: Authenticator,
    private readonly clock: Clock,
  ) {}

  /** Makes `request.client`. Rejects if its key cannot be looked up; the client is then who it was, if it was known before. */
  async identify(request: FastifyRequest): Promise<RequestClient> {
    try {
      request.client ??= clientOf(await this.authenticator.identify(request), request.ip);
      return request.client;
    } catch (failure) {
      request.client = clientOf(this.authenticator.lastKnown(request), request.ip);
      throw failure;
    }
  }

  /** Takes the request from both windows in one step, and remembers the decision. */
  async admit(client: RequestClient): Promise<QuotaStatus> {
    client.decision = await this.store.take(client);
    return client.decision;
  }

  /** For a request that must not be interpreted: it belongs to its address, and is not counted. */
  leaveUncounted(request: FastifyRequest): void {
    request.client = addressClient(request.ip);
  }

  /** The rate limit headers for a response with this status, also to what could not be read as a request. Refunds the request first if it is due. */
  async headersFor(
    { client, ip }: Pick<FastifyRequest, 'client' | 'ip'>,
    status: number,
  ): Promise<Record<string, string>> {
    const current =
      client?.decision === undefined
        ? await this.statusOfUncounted(client, ip)
        : await this.statusAfter(client, client.decision, status);
    return rateLimitHeaders(current, this.clock.now());
  }

  private async statusOfUncounted(client: RequestClient | undefined, ip: string): Promise<QuotaStatus> {
    const address = addressClient(ip);
    // The cause of a failure has already been reported.
    return this.store.read(client ?? address).catch(() => this.store.read(address));
  }

  private async statusAfter(
    client: RequestClient,
    decision: QuotaStatus,
    status: number,
  ): Promise<QuotaStatus> {
    if (decision.outcome !== 'allowed') {
      return decision;
    }
    try {
      // 304 and 5xx responses use no quota.
      if (!client.isRefunded && (status === 304 || status >= 500)) {
        client.isRefunded = true;
        return await this.store.refund(client, decision);
      }
      // Other requests of the client were counted while this one waited.
      if (this.clock.now() - decision.decidedAt > OUTDATED_MS) {
        return await this.store.read(client);
      }
    } catch {
      // Redis has become unavailable, which is reported elsewhere. The last known status is still good.
    }
    return decision;
  }
}

/** @throws UnavailableError for a client with a plan that only a newer version of the service knows */
function clientOf({ key, refusal }: Identity, ip: string): RequestClient {
  if (key === null) {
    return addressClient(ip, refusal);
  }
  try {
    return { key, refusal, tracker: `client:${key.clientId}`, limits: limitsOf(key) };
  } catch (error) {
    throw new UnavailableError((error as Error).message);
  }
}

/** Who sends requests from this address without a valid key. */
export function addressClient(ip: string, refusal: ApiError = new MissingApiKeyError()): RequestClient {
  return { key: null, refusal, tracker: `address:${countedAddress(ip)}`, limits: ADDRESS_LIMITS };
}

/** IPv6 addresses count by /56, which is what a household or a company usually gets. */
const IPV6_PREFIX = 56;

/** All invalid addresses share one quota; otherwise each text that a proxy forwards would get its own. */
const NO_ADDRESS = 'unknown';

/** An IPv6 address counts by its /56, an IPv4-mapped one as its IPv4 address. */
export function countedAddress(ip: string): string {
  return normalizeIp(plainAddress(ip) || NO_ADDRESS, IPV6_PREFIX);
}
