import { Controller, Get, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Operation, Tag } from '#libs/http';
import { ClientId, keyOf, ScopeByMethod } from '../auth';
import { newBanState, nextBanMs, type QuotaStatus } from './rules/decision';
import { CountedOnlyWithoutKey } from './plan-throttler.guard';
import type { WindowStatus } from './rules/limits';
import { QuotaStore } from './stores/quota-store';
import { RateLimitStatusDto, UsageDto, UsageQuery, type RateLimitWindowDto } from './account.dto';
import { QuotasService } from './quotas.service';

const WITHIN: RateLimitStatusDto = {
  plan: 'free',
  minute: { limit: 60, remaining: 59, resetAt: '2026-11-21T09:31:00.000Z' },
  day: { limit: 1_000, remaining: 958, resetAt: '2026-11-22T00:00:00.000Z' },
  ban: { banned: false, refusalsBeforeBan: 31, nextBanSeconds: 120 },
};
const BANNED: RateLimitStatusDto = {
  ...WITHIN,
  minute: { ...WITHIN.minute, remaining: 0 },
  ban: { banned: true, until: '2026-11-21T09:33:00.000Z', refusalsBeforeBan: 31, nextBanSeconds: 600 },
};

@Tag({ name: 'Account', description: 'Your API key, limits and usage.', group: 'Access' })
@Controller()
@ScopeByMethod()
export class AccountController {
  constructor(
    private readonly store: QuotaStore,
    private readonly quotas: QuotasService,
  ) {}

  @Get('rate-limit')
  @CountedOnlyWithoutKey()
  @Operation({
    id: 'getRateLimit',
    summary: 'Get your rate limit status',
    description:
      'Returns your plan, both windows and the bans of your key. Requests with a valid key never count; any valid key may call it, whatever its scopes, a banned one too. Without a valid key the request counts for the address, and is refused past its limit.',
    response: {
      description: 'Your rate limit status.',
      body: RateLimitStatusDto,
      examples: {
        free: { summary: 'Within the limits', value: WITHIN },
        banned: { summary: 'Banned key', value: BANNED },
      },
    },
    stability: 'beta',
  })
  async getRateLimit(@Req() request: FastifyRequest): Promise<RateLimitStatusDto> {
    return toStatus(keyOf(request).plan, await this.store.read(request.client!));
  }

  @Get('usage')
  @Operation({
    id: 'getUsage',
    summary: 'Get your daily usage',
    description: "Returns your client's counted requests for each UTC day, up to 90 days back.",
    response: {
      description: 'One entry per day.',
      body: UsageDto,
    },
    stability: 'experimental',
  })
  async getUsage(@ClientId() clientId: number, @Query() query: UsageQuery): Promise<UsageDto> {
    await this.store.flush();
    return { days: await this.quotas.usageOf(clientId, query.days) };
  }
}

function toStatus(plan: string, status: QuotaStatus): RateLimitStatusDto {
  const { windows, ban, refusalsBeforeBan, acceptedAt, decidedAt } = status;
  return {
    plan,
    minute: toWindow(windows, 'minute'),
    day: toWindow(windows, 'day'),
    ban: {
      banned: acceptedAt !== null,
      ...(acceptedAt === null ? {} : { until: new Date(acceptedAt).toISOString() }),
      refusalsBeforeBan,
      nextBanSeconds: nextBanMs(ban ?? newBanState(), decidedAt) / 1000,
    },
  };
}

function toWindow(windows: WindowStatus[], name: 'minute' | 'day'): RateLimitWindowDto {
  const { limit, remaining, resetAt } = windows.find((window) => window.name === name)!;
  return { limit, remaining, resetAt: new Date(resetAt).toISOString() };
}
