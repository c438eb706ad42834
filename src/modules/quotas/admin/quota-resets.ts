import { Injectable } from '@nestjs/common';
import { Clock } from '#libs/clock';
import { Database } from '#libs/database';
import { AuditTrail } from '../../audit';
import { DAY_MS } from '../rules/rate-window';
import { dateOfDay } from '../counting/quota-records';

/** Resets a client's windows, for operators. Does not lift bans: see BanRegister. */
@Injectable()
export class QuotaResets {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly trail: AuditTrail,
  ) {}

  /**
   * Applies on every instance within a second. Past requests stay in the client's usage. Requests that an instance has not
   * written yet (up to a second) count against the day again after a restart.
   * @param clientId id of an existing client
   */
  async reset(clientId: number): Promise<void> {
    const now = this.clock.now();
    await this.database.transaction(async (transaction) => {
      await transaction.query(
        `INSERT INTO quota_resets (client_id, day, requests, reset_at)
         VALUES ($1, $2, coalesce((SELECT requests FROM usage_days WHERE client_id = $1 AND day = $2), 0), $3)
         ON CONFLICT (client_id) DO UPDATE
         SET day = excluded.day, requests = excluded.requests,
           reset_at = greatest(excluded.reset_at, quota_resets.reset_at + interval '1 millisecond')`,
        [clientId, dateOfDay(Math.floor(now / DAY_MS)), new Date(now).toISOString()],
      );
      await this.trail.record(transaction, { action: 'quota.reset', clientId, details: {} });
    });
  }
}
