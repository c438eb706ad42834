import { type Database, type Transaction, WriteBehind } from '#libs/database';
import type { AuditTrail } from '../../audit';
import type { BanState } from '../rules/ban-rules';

const INTERVAL_MS = 1_000;

interface EarnedBan {
  level: number;
  /** Unix milliseconds, as `earnedAt` is. */
  bannedUntil: number;
  earnedAt: number;
}

/** Writes the bans that keys have earned to the database and the audit log. */
export class EarnedBans {
  /** By key, oldest first: the last one is in force, but each gets an audit entry. */
  private readonly waiting: WriteBehind<EarnedBan[]>;

  constructor(
    private readonly database: Database,
    private readonly trail: AuditTrail,
    onError: (error: unknown) => void,
  ) {
    this.waiting = new WriteBehind<EarnedBan[]>({
      intervalMs: INTERVAL_MS,
      merge: (earlier, later) => [...earlier, ...later],
      write: (batch) => this.write(batch),
      onError,
    });
  }

  /** Written immediately, because this notifies the other instances; retried every second. */
  add(keyId: number, { level, bannedUntil }: BanState, earnedAt: number): void {
    this.waiting.add(String(keyId), [{ level, bannedUntil, earnedAt }]);
    void this.waiting.flush();
  }

  /** True while a ban of this key waits to be written. */
  has(keyId: number): boolean {
    return this.waiting.has(String(keyId));
  }

  /** Writes what is pending; resolves to false on failure. Never rejects. */
  flush(): Promise<boolean> {
    return this.waiting.flush();
  }

  /** Writes what is pending, and stops. */
  async close(): Promise<void> {
    await this.waiting.close();
  }

  private async write(batch: Map<string, EarnedBan[]>): Promise<void> {
    const latest = [...batch.values()].map((bans) => bans.at(-1)!);
    await this.database.transaction(async (transaction) => {
      const written = await transaction.query<{ key_id: string }[]>(
        // Skips keys that have been deleted: one of them would make the batch fail repeatedly.
        `INSERT INTO key_bans (key_id, level, banned_until, by_operator)
         SELECT banned.*, false FROM unnest($1::bigint[], $2::int[], $3::timestamptz[]) AS banned (key_id, level, banned_until)
         WHERE EXISTS (SELECT FROM api_keys WHERE api_keys.id = banned.key_id)
         ON CONFLICT (key_id) DO UPDATE
         SET level = excluded.level, banned_until = excluded.banned_until, by_operator = excluded.by_operator
         RETURNING key_id`,
        [
          [...batch.keys()],
          latest.map(({ level }) => level),
          latest.map(({ bannedUntil }) => new Date(bannedUntil).toISOString()),
        ],
      );
      for (const { key_id: keyId } of written) {
        await this.record(transaction, keyId, batch.get(keyId)!);
      }
    });
  }

  private async record(transaction: Transaction, keyId: string, bans: EarnedBan[]): Promise<void> {
    const actor = { kind: 'key', name: keyId } as const;
    for (const { level, bannedUntil, earnedAt } of bans) {
      const details = { level, bannedUntil: new Date(bannedUntil).toISOString() };
      const entry = { action: 'key.banned', keyId: Number(keyId), details } as const;
      await this.trail.record(transaction, entry, { actor, at: earnedAt });
    }
  }
}
