import { Injectable } from '@nestjs/common';
import { normalizeIp } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import { Clock } from '#libs/clock';
import { type ApiError, plainAddress, UnavailableError } from '#libs/http';
import { Authenticator, type Identity, MissingApiKeyError } from '../auth';
import { type QuotaStatus, rateLimitHeaders } from './rules/decision';
import { ADDRESS_LIMITS, limitsOf } from './rules/limits';
import { type LimitedClient, QuotaStore } from './stores/quota-store';

type RequestClient = Identity &
  LimitedClient & {
    /** The status after this request, for the headers of the response. Absent if the request is not counted. */
    decision?: QuotaStatus;
    isRefunded?: boolean;
  };

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the first guard, or by the exception filter if the request fails before any guard. */
    client?: RequestClient;
  }
}

/** If a request takes longer, the counts for its rate limit headers are read again: other requests were counted meanwhile. */
const OUTDATED_MS = 1_000;

/** Identifies the client of a request, counts the request, and refunds the request if the response is a 304 or 5xx. */
@Injectable()
export class RequestLimiter {
  constructor(
    private readonly store: QuotaStore,
    private readonly authenticator: Authenticator,
    private readonly clock: Clock,
  ) {}

  /** Sets `request.client`. If the look-up of the key fails, sets the client last known for this key, and rejects. */
  async identify(request: FastifyRequest): Promise<RequestClient> {
    try {
      request.client ??= clientOf(await this.authenticator.identify(request), request.ip);
      return request.client;
    } catch (failure) {
      request.client = clientOf(this.authenticator.lastKnown(request), request.ip);
      throw failure;
    }
  }

  async admit(client: RequestClient): Promise<QuotaStatus> {
    client.decision = await this.store.take(client);
    return client.decision;
  }

  /** Makes the IP address the caller of a malformed request, whose key is not read. The request is not counted. */
  leaveUncounted(request: FastifyRequest): void {
    request.client = addressClient(request.ip);
  }

  /** Refunds the request if `status` is 304 or 5xx, then returns the rate limit headers of the response. */
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
    // If the counts of the client cannot be read, report the counts of the address, which need no database.
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
      if (!client.isRefunded && (status === 304 || status >= 500)) {
        client.isRefunded = true;
        return await this.store.refund(client, decision);
      }
      if (this.clock.now() - decision.decidedAt > OUTDATED_MS) {
        return await this.store.read(client);
      }
    } catch {
      // If the counts cannot be read or refunded, report the status from the start of the request.
    }
    return decision;
  }
}

/** @throws UnavailableError if the client has a plan that only a newer version of the service knows */
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

export function addressClient(ip: string, refusal: ApiError = new MissingApiKeyError()): RequestClient {
  return { key: null, refusal, tracker: `address:${countedAddress(ip)}`, limits: ADDRESS_LIMITS };
}

/** IPv6 addresses with the same first 56 bits count as one caller, because a household or company usually gets a /56. */
const IPV6_PREFIX = 56;

/** All invalid addresses share one quota. Otherwise each invalid text in a forwarding header would get a quota of its own. */
const NO_ADDRESS = 'unknown';

/** Returns the address under which requests count. An IPv4-mapped IPv6 address counts as the IPv4 address. */
export function countedAddress(ip: string): string {
  return normalizeIp(plainAddress(ip) || NO_ADDRESS, IPV6_PREFIX);
}
