import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { WriteBehind } from '#libs/background';
import { Clock, DAY_MS, utcDate } from '#libs/clock';
import { Database } from '#libs/database';
import type { DeprecatedCall } from './deprecated-call.entity';

const INTERVAL_MS = 5_000;

interface Calls extends Pick<DeprecatedCall, 'keyId' | 'operation' | 'calls'> {
  lastCallAt: number;
}

function rowOf({ lastCallAt, ...call }: Calls): DeprecatedCall {
  return { ...call, day: utcDate(lastCallAt), lastCallAt: new Date(lastCallAt) };
}

type DeprecatedUse = Omit<DeprecatedCall, 'day'> & { client: string; endsWith: string };

/** Adds calls to the saved counts. Rows are written in sorted order, so that instances cannot deadlock. */
const ADD = `INSERT INTO deprecated_calls (key_id, operation, day, calls, last_call_at)
  SELECT * FROM jsonb_to_recordset($1) AS called ("keyId" bigint, operation text, day date, calls bigint, "lastCallAt" timestamptz)
  ORDER BY "keyId", operation, day
  ON CONFLICT (key_id, operation, day) DO UPDATE SET calls = deprecated_calls.calls + excluded.calls,
    last_call_at = greatest(deprecated_calls.last_call_at, excluded.last_call_at)`;

/**
 * Sums up the calls by operation and key. The order of the columns matters, because the command line prints the columns
 * in this order.
 */
const REPORT = `SELECT operation, clients.name AS client, api_keys.id AS "keyId", last4 AS "endsWith", sum(calls)::bigint AS calls,
    max(last_call_at) AS "lastCallAt"
    FROM deprecated_calls JOIN api_keys ON api_keys.id = key_id JOIN clients ON clients.id = client_id
    WHERE day >= $1 AND clients.deleted_at IS NULL AND ($2::text IS NULL OR clients.name = $2)
    GROUP BY operation, clients.id, api_keys.id ORDER BY operation, sum(calls) DESC, api_keys.id`;

@Injectable()
export class DeprecatedCalls implements OnApplicationShutdown {
  private readonly calls = new WriteBehind<Calls>({
    name: 'Saving calls of deprecated operations',
    intervalMs: INTERVAL_MS,
    merge: (earlier, later) => Object.assign(later, { calls: earlier.calls + later.calls }),
    write: async (batch) => {
      const rows = JSON.stringify(Array.from(batch.values(), rowOf));
      await this.database.query({ text: ADD, values: [rows] });
    },
  });

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  record(keyId: number, operation: string): void {
    const lastCallAt = this.clock.now();
    const day = Math.floor(lastCallAt / DAY_MS);
    this.calls.add(`${keyId} ${day} ${operation}`, { keyId, operation, calls: 1, lastCallAt });
  }

  /**
   * Returns the keys that still call deprecated operations. Calls of the last few seconds may be missing.
   * @param days number of UTC days, including today
   * @param client name of a client; by default, all clients
   */
  report(days: number, client?: string): Promise<DeprecatedUse[]> {
    const since = utcDate(this.clock.now() - (days - 1) * DAY_MS);
    return this.database.query({ text: REPORT, values: [since, client ?? null] });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.calls.close();
  }
}
