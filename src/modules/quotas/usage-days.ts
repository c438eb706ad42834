import { type Database, int8ToNumber } from '#libs/database';
import { dateOf } from './counting/quota-records';

export interface UsageDay {
  date: string;
  requests: number;
}

/**
 * The last `days` days as they are written, oldest first, days without requests included.
 * @param today days since 1970-01-01 UTC
 */
export async function readUsageDays(
  database: Database,
  clientId: number,
  today: number,
  days: number,
): Promise<UsageDay[]> {
  const dates = Array.from({ length: days }, (_, index) => dateOf(today - days + 1 + index));
  const rows = await database.query<{ date: string; requests: string }>(
    `SELECT to_char(day, 'YYYY-MM-DD') AS date, requests FROM usage_days
     WHERE client_id = $1 AND day BETWEEN $2 AND $3`,
    [clientId, dates[0], dates.at(-1)],
  );
  const requests = new Map(rows.map((row) => [row.date, Math.max(0, int8ToNumber(row.requests))]));
  return dates.map((date) => ({ date, requests: requests.get(date) ?? 0 }));
}
