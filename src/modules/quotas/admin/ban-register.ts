import { Injectable } from '@nestjs/common';
import { MoreThan } from 'typeorm';
import { Clock } from '#libs/clock';
import { Database, type Transaction } from '#libs/database';
import { AuditTrail } from '../../audit';
import { KeyBan, banOf } from '../key-ban.entity';
import { type BanState, ban, isBanned, newBanState, unban } from '../rules/ban-rules';

/** Bans for those who run the service. Whatever is written here holds on every instance within a second. */
@Injectable()
export class BanRegister {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly trail: AuditTrail,
  ) {}

  /**
   * Bans a key from now on; it counts as a ban like any other.
   * @param durationMs how long; as long as the key's next ban would last when left out
   * @returns the end of the ban
   */
  ban(keyId: number, durationMs?: number): Promise<Date> {
    return this.database.transaction(async (transaction) => {
      const bans = await stateOf(keyId, transaction);
      ban(bans, this.clock.now(), durationMs);
      await save(keyId, bans, transaction);
      const details = { level: bans.level, bannedUntil: toText(bans) };
      await this.trail.record(transaction, { action: 'key.banned', keyId, details });
      return new Date(bans.bannedUntil);
    });
  }

  /** Lifts a ban and takes its level back; a key that is not banned stays as it is. */
  unban(keyId: number): Promise<void> {
    return this.database.transaction(async (transaction) => {
      const bans = await stateOf(keyId, transaction);
      const now = this.clock.now();
      const wasBanned = isBanned(bans, now);
      const before = { level: bans.level, bannedUntil: toText(bans) };
      unban(bans, now);
      // Written in any case: an instance may know of a ban that never got as far as the database, and hears this.
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

  /** The ends of the bans that hold now, by key. Bans of the last second may be missing. */
  async running(): Promise<Map<number, Date>> {
    const bannedUntil = MoreThan(new Date(this.clock.now()));
    const bans = await this.database.reader.findBy(KeyBan, { bannedUntil });
    return new Map(bans.map((one) => [one.keyId, one.bannedUntil]));
  }

  /** A new key in place of another inherits its ban, or rotating would be the way out of it. */
  async inherit(transaction: Transaction, fromKeyId: number, toKeyId: number): Promise<void> {
    await transaction.query(
      `INSERT INTO key_bans (key_id, level, banned_until)
       SELECT $2, level, banned_until FROM key_bans WHERE key_id = $1`,
      [fromKeyId, toKeyId],
    );
  }
}

async function stateOf(keyId: number, transaction: Transaction): Promise<BanState> {
  const stored = await transaction.findOne(KeyBan, { where: { keyId }, lock: { mode: 'pessimistic_write' } });
  return { ...newBanState(), ...(stored ? banOf(stored) : {}) };
}

async function save(keyId: number, bans: BanState, transaction: Transaction): Promise<void> {
  const { level, bannedUntil } = bans;
  await transaction.upsert(KeyBan, { keyId, level, bannedUntil: new Date(bannedUntil) }, ['keyId']);
}

function toText({ bannedUntil }: BanState): string {
  return new Date(bannedUntil).toISOString();
}
