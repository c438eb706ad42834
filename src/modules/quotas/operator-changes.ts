import { Injectable } from '@nestjs/common';
import { MoreThan } from 'typeorm';
import { Clock } from '#libs/clock';
import { Database, type Transaction } from '#libs/database';
import { AuditTrail } from '../audit';
import { KeyBan, toStoredBan } from './quotas.entity';
import { type BanState, ban, isBanned, newBanState, unban } from './rules/ban-rules';
import { DAY_MS } from './rules/rate-window';
import { dateOfDay } from './stores/quota-records';

/** Bans, for operators. Changes apply on every instance within a second. */
@Injectable()
export class BanRegister {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly trail: AuditTrail,
  ) {}

  /**
   * Bans a key, starting now. It raises the key's ban level like an automatic ban.
   * @param durationMs default: as long as the key's next automatic ban
   * @returns the end of the ban
   */
  ban(keyId: number, durationMs?: number): Promise<Date> {
    return this.database.transaction(async (transaction) => {
      const bans = await stateOf(keyId, transaction);
      ban(bans, this.clock.now(), { durationMs, byOperator: true });
      await save(keyId, bans, transaction);
      const details = { level: bans.level, bannedUntil: toText(bans) };
      await this.trail.record(transaction, { action: 'key.banned', keyId, details });
      return new Date(bans.bannedUntil);
    });
  }

  /** Lifts a ban and reverts its level. Has no effect on a key that is not banned. */
  unban(keyId: number): Promise<void> {
    return this.database.transaction(async (transaction) => {
      const bans = await stateOf(keyId, transaction);
      const now = this.clock.now();
      const wasBanned = isBanned(bans, now);
      const before = { level: bans.level, bannedUntil: toText(bans) };
      unban(bans, now);
      // Always written, because an instance may hold a ban that has not reached the database; this notifies it.
      await save(keyId, bans, transaction);
      if (!wasBanned) {
        return;
      }
      const details = {
        level: { before: before.level, after: bans.level },
        bannedUntil: { before: before.bannedUntil, after: toText(bans) },
      };
      await this.trail.record(transaction, { action: 'key.unbanned', keyId, details });
    });
  }

  /** When the active bans end, by key id. Bans of the last second may be missing. */
  async running(): Promise<Map<number, Date>> {
    const bannedUntil = MoreThan(new Date(this.clock.now()));
    const bans = await this.database.reader.findBy(KeyBan, { bannedUntil });
    return new Map(bans.map((one) => [one.keyId, one.bannedUntil]));
  }

  /** Copies a ban to the key that replaces the banned one; otherwise rotation would lift bans. */
  async inherit(transaction: Transaction, fromKeyId: number, toKeyId: number): Promise<void> {
    await transaction.query(
      `INSERT INTO key_bans (key_id, level, banned_until, by_operator)
       SELECT $2, level, banned_until, by_operator FROM key_bans WHERE key_id = $1`,
      [fromKeyId, toKeyId],
    );
  }
}

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

async function stateOf(keyId: number, transaction: Transaction): Promise<BanState> {
  const stored = await transaction.findOne(KeyBan, { where: { keyId }, lock: { mode: 'pessimistic_write' } });
  return { ...newBanState(), ...(stored ? toStoredBan(stored) : {}) };
}

async function save(keyId: number, bans: BanState, transaction: Transaction): Promise<void> {
  const { level, bannedUntil, byOperator } = bans;
  await transaction.upsert(KeyBan, { keyId, level, bannedUntil: new Date(bannedUntil), byOperator }, [
    'keyId',
  ]);
}

function toText({ bannedUntil }: BanState): string {
  return new Date(bannedUntil).toISOString();
}
