import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Integer, OneOf, Timestamp, TrueOrFalse } from '#libs/http';
import { USAGE_DAYS } from './quotas.entity';
import { PLANS } from './rules/limits';

const COUNT = { min: 0, max: 2_147_483_647 };

@ApiSchema({ name: 'RateLimitWindow', description: 'The state of one window.' })
export class RateLimitWindowDto {
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
      'When a request will be accepted: when the ban ends, or an exhausted window if that is later. Present only during a ban.',
    example: '2026-11-21T09:33:00.000Z',
    optional: true,
  })
  until?: string;

  @Integer({
    ...COUNT,
    description:
      'Refused requests left before the next ban. They are counted in series that begin with a 429 and end after 60 seconds or with the window, without those of the first two seconds.',
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
    description: 'Number of days, including today.',
    default: 30,
    example: 7,
  })
  days: number = 30;
}
