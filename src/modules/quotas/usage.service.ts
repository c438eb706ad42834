import { Injectable } from '@nestjs/common';
import { Clock } from '#libs/clock';
import { Database, int8ToNumber } from '#libs/database';
import { DAY_MS } from './rules/rate-window';
import { dateOf } from './counting/quota-records';
import { QuotaStore } from './counting/quota-store';

/** How many days of usage are kept and can be asked for, today included. */
export const USAGE_DAYS = 90;

export interface UsageDay {
  date: string;
  requests: number;
}

/** How many requests a client has used, by UTC day. */
@Injectable()
export class UsageService {
  constructor(
    private readonly database: Database,
    private readonly counts: QuotaStore,
    private readonly clock: Clock,
  ) {}

  /** The last `days` days, oldest first, days without requests included. What is counted but not written is written first. */
  async of(clientId: number, days: number): Promise<UsageDay[]> {
    const today = Math.floor(this.clock.now() / DAY_MS);
    const dates = Array.from({ length: days }, (_, index) => dateOf(today - days + 1 + index));
    await this.counts.flush();
    const rows = await this.database.query<{ date: string; requests: string }>(
      `SELECT to_char(day, 'YYYY-MM-DD') AS date, requests FROM usage_days
       WHERE client_id = $1 AND day BETWEEN $2 AND $3`,
      [clientId, dates[0], dates.at(-1)],
    );
    const requests = new Map(rows.map((row) => [row.date, Math.max(0, int8ToNumber(row.requests))]));
    return dates.map((date) => ({ date, requests: requests.get(date) ?? 0 }));
  }
}
