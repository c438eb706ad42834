import { Injectable } from '@nestjs/common';
import { Clock } from '#libs/clock';
import { Database, type Transaction } from '#libs/database';
import { type BanState, ban, newBanState, unban } from '../ban-rules';

interface BanRow {
  level: number;
  banned_until: Date;
}

/** Bans for those who run the service. Whatever is written here holds on every instance within a second. */
@Injectable()
export class BanRegister {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * Bans a key from now on; it counts as a ban like any other.
   * @param durationMs how long; as long as the key's next ban would last when left out
   * @returns the end of the ban
   */
  async ban(keyId: number, durationMs?: number): Promise<Date> {
    const state = await this.change(keyId, (bans, now) => ban(bans, now, durationMs));
    return new Date(state.bannedUntil);
  }

  /** Lifts a ban and takes its level back; a key that is not banned stays as it is. */
  async unban(keyId: number): Promise<void> {
    await this.change(keyId, unban);
  }

  /** A new key in place of another inherits its ban, or rotating would be the way out of it. */
  async inherit(transaction: Transaction, fromKeyId: number, toKeyId: number): Promise<void> {
    await transaction.query(
      `INSERT INTO key_bans (key_id, level, banned_until)
       SELECT $2, level, banned_until FROM key_bans WHERE key_id = $1`,
      [fromKeyId, toKeyId],
    );
  }

  private change(keyId: number, rule: (bans: BanState, now: number) => void): Promise<BanState> {
    return this.database.transaction(async (transaction) => {
      const [row] = await transaction.query<BanRow[]>(
        `SELECT level, banned_until FROM key_bans WHERE key_id = $1 FOR UPDATE`,
        [keyId],
      );
      const state = newBanState();
      if (row) {
        Object.assign(state, { level: row.level, bannedUntil: row.banned_until.getTime() });
      }
      rule(state, this.clock.now());
      await transaction.query(
        `INSERT INTO key_bans (key_id, level, banned_until) VALUES ($1, $2, $3)
         ON CONFLICT (key_id) DO UPDATE SET level = excluded.level, banned_until = excluded.banned_until`,
        [keyId, state.level, new Date(state.bannedUntil)],
      );
      return state;
    });
  }
}
