import { Injectable } from '@nestjs/common';
import { Clock } from '#libs/clock';
import { Database } from '#libs/database';
import { DAY_MS } from './rules/rate-window';
import { QuotaStore } from './counting/quota-store';
import { type UsageDay, readUsageDays } from './usage-days';

/** How many days of usage are kept and can be asked for, today included. */
export const USAGE_DAYS = 90;

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
    await this.counts.flush();
    return readUsageDays(this.database, clientId, Math.floor(this.clock.now() / DAY_MS), days);
  }
}
