import { Injectable } from '@nestjs/common';
import { Between } from 'typeorm';
import { Clock } from '#libs/clock';
import { Database } from '#libs/database';
import { DAY_MS } from './rules/rate-window';
import { dateOfDay } from './counting/quota-records';
import { UsageDay } from './usage-day.entity';

/** Days of usage that are kept, including today. */
export const USAGE_DAYS = 90;

/** How many requests a client has used, by UTC day. */
@Injectable()
export class UsageService {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** The last `days` days, oldest first, including days without requests. Unwritten counts are missing. */
  async of(clientId: number, days: number): Promise<{ date: string; requests: number }[]> {
    const today = Math.floor(this.clock.now() / DAY_MS);
    const dates = Array.from({ length: days }, (_, index) => dateOfDay(today - days + 1 + index));
    const day = Between(dates[0]!, dates.at(-1)!);
    const used = await this.database.reader.findBy(UsageDay, { clientId, day });
    const requests = new Map(used.map((one) => [one.day, Math.max(0, one.requests)]));
    return dates.map((date) => ({ date, requests: requests.get(date) ?? 0 }));
  }
}
