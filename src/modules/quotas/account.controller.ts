import { Controller, Get, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Operation, Tag } from '#libs/http';
import { ClientId, apiKeyOf, ScopeByMethod } from '../auth';
import { BANNED, RateLimitStatusDto, toStatusDto, UsageDto, UsageQuery, WITHIN_LIMITS } from './account.dto';
import { QuotaCounters } from './counters/quota-counters';
import { CountedOnlyWithoutKey } from './plan-throttler.guard';
import { QuotasService } from './quotas.service';

@Tag({ place: 70, name: 'Account', description: 'Your API key, limits and usage.', group: 'Access' })
@Controller()
@ScopeByMethod()
export class AccountController {
  constructor(
    private readonly counters: QuotaCounters,
    private readonly quotas: QuotasService,
  ) {}

  @Get('rate-limit')
  @CountedOnlyWithoutKey()
  @Operation({
    id: 'getRateLimit',
    summary: 'Get your rate limit status',
    description:
      'Returns your plan, both windows and the bans of your key. Any valid key may send this request, whatever its scopes and even during a ban, and the request never counts. Without a valid key, the request counts towards the limit of the IP address, and is refused above that limit.',
    response: {
      description: 'Your rate limit status.',
      body: RateLimitStatusDto,
      examples: {
        free: { summary: 'Within the limits', value: WITHIN_LIMITS },
        banned: { summary: 'Banned key', value: BANNED },
      },
    },
    stability: 'beta',
  })
  async getRateLimit(@Req() request: FastifyRequest): Promise<RateLimitStatusDto> {
    return toStatusDto(apiKeyOf(request).plan, await this.counters.read(request.client!));
  }

  @Get('usage')
  @Operation({
    id: 'getUsage',
    summary: 'Get your daily usage',
    description: "Returns your client's counted requests for each UTC day, up to 90 days back.",
    response: { description: 'One entry per day.', body: UsageDto },
    stability: 'experimental',
  })
  async getUsage(@ClientId() clientId: number, @Query() query: UsageQuery): Promise<UsageDto> {
    return { days: await this.quotas.usageOf(clientId, query.days) };
  }
}
