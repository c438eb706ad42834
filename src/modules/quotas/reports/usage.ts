import { Injectable } from '@nestjs/common';
import { Between } from 'typeorm';
import { Clock } from '#libs/clock';
import { Database, int8ToNumber } from '#libs/database';
import { UsageDay } from '../quotas.entity';
import { limitsOf } from '../rules/plans';
import { DAY_MS } from '../rules/rate-window';
import { dateOfDay } from '../stores/quota-records';

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

interface UsageRow {
  name: string;
  plan: string;
  per_minute: number | null;
  per_day: number | null;
  requests: string;
  forgiven: string;
}

export type RankedClient = {
  client: string;
  plan: string;
  requests: number;
  perDay: number;
  /** Share of the day's limit that is used, minus resets; only for a single day. */
  usedPercent?: number;
};

/** The clients with the most requests, for operators. Up to a second behind. */
@Injectable()
export class UsageRanking {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** @param days number of UTC days, including today */
  async top(limit: number, days: number): Promise<RankedClient[]> {
    const today = Math.floor(this.clock.now() / DAY_MS);
    const rows = await this.database.query<UsageRow>(
      `SELECT clients.name, clients.plan, clients.per_minute, clients.per_day,
         sum(usage_days.requests)::bigint AS requests, coalesce(max(quota_resets.requests), 0) AS forgiven
       FROM usage_days JOIN clients ON clients.id = usage_days.client_id
       LEFT JOIN quota_resets ON quota_resets.client_id = clients.id AND quota_resets.day = usage_days.day
       WHERE usage_days.day >= $1 GROUP BY clients.id HAVING sum(usage_days.requests) > 0
       ORDER BY sum(usage_days.requests) DESC, clients.id LIMIT $2`,
      [dateOfDay(today - days + 1), limit],
    );
    return rows.map((row) => rank(row, days === 1));
  }
}

function rank(row: UsageRow, oneDay: boolean): RankedClient {
  const { perDay } = limitsOf({ plan: row.plan, perMinute: row.per_minute, perDay: row.per_day });
  const requests = int8ToNumber(row.requests);
  const ranked = { client: row.name, plan: row.plan, requests, perDay: perDay! };
  return oneDay
    ? { ...ranked, usedPercent: percent(requests - int8ToNumber(row.forgiven), perDay!) }
    : ranked;
}

/** To one decimal. */
function percent(used: number, limit: number): number {
  return Math.round((Math.max(0, used) / limit) * 1_000) / 10;
}
