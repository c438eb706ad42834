import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Integer, OneOf, Timestamp, TrueOrFalse } from '#libs/http';
import { nextBanMs } from './rules/bans';
import type { Decision } from './rules/decision';
import { PLANS } from './rules/limits';
import { USAGE_DAYS } from './usage-day.entity';

const COUNT = { min: 0, max: 2_147_483_647 };

@ApiSchema({ name: 'RateLimitWindow', description: 'The state of one window.' })
class RateLimitWindowDto {
  @Integer({ ...COUNT, description: 'Requests that the window allows.', example: 60 })
  limit!: number;

  @Integer({ ...COUNT, description: 'Requests left in the window.', example: 59 })
  remaining!: number;

  @Timestamp({ description: 'When the window ends.', example: '2026-11-21T09:31:00.000Z' })
  resetAt!: string;
}

@ApiSchema({ name: 'RateLimitBan', description: 'The ban state of a key.' })
class RateLimitBanDto {
  @TrueOrFalse({ description: 'Whether the key is banned now.', example: false })
  banned!: boolean;

  @Timestamp({
    description:
      'When the next request will be accepted: at the end of the ban, or of an exhausted window if that is later. Present only during a ban.',
    example: '2026-11-21T09:33:00.000Z',
    optional: true,
  })
  until?: string;

  @Integer({
    ...COUNT,
    description:
      'How many more refused requests lead to a ban. Counting starts with a 429 and starts over after 60 seconds, or earlier if the window ends. Refusals in the first two seconds do not count.',
    example: 31,
  })
  refusalsBeforeBan!: number;

  @Integer({ ...COUNT, description: 'How long the next ban would last, in seconds.', example: 120 })
  nextBanSeconds!: number;
}

@ApiSchema({ name: 'RateLimitStatus', description: 'The rate limit status of a client and its key.' })
export class RateLimitStatusDto {
  @OneOf(PLANS, { description: 'The plan of the client.', example: 'free', enumName: 'Plan' })
  plan!: string;

  @ApiProperty({ description: 'The window of 60 seconds.', type: RateLimitWindowDto })
  minute!: RateLimitWindowDto;

  @ApiProperty({ description: 'The window of the UTC day.', type: RateLimitWindowDto })
  day!: RateLimitWindowDto;

  @ApiProperty({ description: 'Bans of the key.', type: RateLimitBanDto })
  ban!: RateLimitBanDto;
}

@ApiSchema({ name: 'UsageDay', description: 'The requests of one day.' })
class UsageDayDto {
  @ApiProperty({
    description: 'The UTC day.',
    type: 'string',
    format: 'date',
    maxLength: 10,
    example: '2026-11-21',
  })
  date!: string;

  @Integer({ ...COUNT, description: 'Requests counted on that day.', example: 42 })
  requests!: number;
}

@ApiSchema({ name: 'Usage', description: 'The requests of a client, by day.' })
export class UsageDto {
  @ApiProperty({
    description: 'One entry per day, oldest first, ending with today.',
    type: [UsageDayDto],
    maxItems: USAGE_DAYS,
  })
  days!: UsageDayDto[];
}

export class UsageQuery {
  @Integer({
    min: 1,
    max: USAGE_DAYS,
    times: 1,
    description: `Number of days, including today. Default: 30, at most ${USAGE_DAYS}.`,
    default: 30,
    example: 7,
  })
  days: number = 30;
}

export const WITHIN_LIMITS: RateLimitStatusDto = {
  plan: 'free',
  minute: { limit: 60, remaining: 59, resetAt: '2026-11-21T09:31:00.000Z' },
  day: { limit: 1_000, remaining: 958, resetAt: '2026-11-22T00:00:00.000Z' },
  ban: { banned: false, refusalsBeforeBan: 31, nextBanSeconds: 120 },
};
export const BANNED: RateLimitStatusDto = {
  ...WITHIN_LIMITS,
  minute: { ...WITHIN_LIMITS.minute, remaining: 0 },
  ban: { banned: true, until: '2026-11-21T09:33:00.000Z', refusalsBeforeBan: 31, nextBanSeconds: 600 },
};

export function toStatusDto(plan: string, decision: Decision): RateLimitStatusDto {
  const { ban, refusalsBeforeBan, acceptedAt, decidedAt } = decision;
  const [minute, day] = decision.statuses.map(({ limit, remaining, resetAt }) => {
    return { limit, remaining, resetAt: new Date(resetAt).toISOString() };
  });
  return {
    plan,
    minute: minute!,
    day: day!,
    ban: {
      banned: acceptedAt !== null,
      ...(acceptedAt === null ? {} : { until: new Date(acceptedAt).toISOString() }),
      refusalsBeforeBan,
      nextBanSeconds: nextBanMs(ban!, decidedAt) / 1000,
    },
  };
}
