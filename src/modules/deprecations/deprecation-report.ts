import { Injectable, Module } from '@nestjs/common';
import { Clock, DAY_MS, utcDate } from '#libs/clock';
import { Database, int8ToNumber } from '#libs/database';

export interface DeprecatedUse {
  /** The operationId in the OpenAPI document. */
  operation: string;
  client: string;
  keyId: number;
  /** The key's last four characters. */
  endsWith: string;
  calls: number;
  lastCallAt: Date;
}

/** The driver returns a bigint as text. */
type UseRow = Omit<DeprecatedUse, 'keyId' | 'calls'> & Record<'keyId' | 'calls', string>;

/** Who still calls deprecated operations, for operators. A few seconds behind. */
@Injectable()
export class DeprecationReport {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * Sorted by operation, then by the number of calls.
   * @param days number of UTC days, including today
   * @param client only calls of this client
   */
  async of(days: number, client?: string): Promise<DeprecatedUse[]> {
    const since = utcDate(this.clock.now() - (days - 1) * DAY_MS);
    const rows = await this.database.query<UseRow>(
      `SELECT operation, clients.name AS client, api_keys.id AS "keyId", api_keys.last4 AS "endsWith",
         sum(calls)::bigint AS calls, max(last_call_at) AS "lastCallAt"
       FROM deprecated_calls
       JOIN api_keys ON api_keys.id = deprecated_calls.key_id JOIN clients ON clients.id = api_keys.client_id
       WHERE day >= $1 AND (clients.name = $2 OR $2 IS NULL)
       GROUP BY operation, clients.id, api_keys.id
       ORDER BY operation, sum(calls) DESC, api_keys.id`,
      [since, client ?? null],
    );
    return rows.map((row) => ({ ...row, keyId: int8ToNumber(row.keyId), calls: int8ToNumber(row.calls) }));
  }
}

/** The report for operators, without the recording of calls. */
@Module({ providers: [DeprecationReport], exports: [DeprecationReport] })
export class DeprecationReportModule {}
