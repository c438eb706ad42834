import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { AnswerField, QueryField, boolean, integer, oneOf, timestamp } from '#libs/validation';
import { PLANS } from '../plans';
import { USAGE_DAYS } from './usage.service';

const count = integer({ min: 0, max: 2_147_483_647 });

@ApiSchema({ name: 'RateLimitWindow', description: 'Where a client stands in one window.' })
export class RateLimitWindowDto {
  @AnswerField(count, { description: 'Requests that the window allows.', example: 60 })
  limit!: number;

  @AnswerField(count, { description: 'Requests left in the window.', example: 59 })
  remaining!: number;

  @AnswerField(timestamp, { description: 'When the window ends.', example: '2026-11-21T09:31:00.000Z' })
  resetAt!: string;
}

@ApiSchema({ name: 'RateLimitBan', description: 'Where a key stands with bans.' })
export class RateLimitBanDto {
  @AnswerField(boolean, { description: 'Whether the key is banned now.', example: false })
  banned!: boolean;

  @AnswerField(timestamp, {
    description: 'When the ban ends; only while banned.',
    example: '2026-11-21T09:33:00.000Z',
    optional: true,
  })
  until?: string;

  @AnswerField(count, {
    description:
      'Refused requests which remain before the next ban. Waiting for `Retry-After` restores them.',
    example: 11,
  })
  refusalsBeforeBan!: number;

  @AnswerField(count, { description: 'How long the next ban would last, in seconds.', example: 120 })
  nextBanSeconds!: number;
}

@ApiSchema({ name: 'RateLimitStatus', description: 'Where the caller stands with its limits.' })
export class RateLimitStatusDto {
  @AnswerField(oneOf(PLANS), { description: 'The plan of the client.', example: 'free' })
  plan!: string;

  @ApiProperty({ description: 'The window of 60 seconds.', type: RateLimitWindowDto })
  minute!: RateLimitWindowDto;

  @ApiProperty({ description: 'The window of the UTC day.', type: RateLimitWindowDto })
  day!: RateLimitWindowDto;

  @ApiProperty({ description: 'Bans of the key.', type: RateLimitBanDto })
  ban!: RateLimitBanDto;
}

@ApiSchema({ name: 'UsageDay', description: 'The requests of one day.' })
export class UsageDayDto {
  @ApiProperty({
    description: 'The UTC day.',
    type: 'string',
    format: 'date',
    maxLength: 10,
    example: '2026-11-21',
  })
  date!: string;

  @AnswerField(count, { description: 'Requests counted on that day.', example: 42 })
  requests!: number;
}

@ApiSchema({ name: 'Usage', description: 'The requests of a client, by day.' })
export class UsageDto {
  @ApiProperty({
    description: 'One entry a day, oldest first; today is the last.',
    type: [UsageDayDto],
    maxItems: USAGE_DAYS,
  })
  days!: UsageDayDto[];
}

export class UsageQuery {
  @QueryField(integer({ min: 1, max: USAGE_DAYS }), {
    description: 'How many days back, today included.',
    default: 30,
    example: 7,
  })
  days: number = 30;
}
