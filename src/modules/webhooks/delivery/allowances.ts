// Concurrent deliveries per webhook: more to a fast receiver, one to a dead one.

/** For a webhook without history. */
export const FIRST = 4;
const MOST = 32;
const LEAST = 1;
/** A slower receiver gets fewer concurrent deliveries. */
const QUICK_MS = 1_000;
/** Idle webhooks that are remembered. */
const MAX_REMEMBERED = 10_000;

export class Allowances {
  /** In the order of use. */
  private readonly uses = new Map<number, { underWay: number; allowed: number }>();

  /** How many more deliveries may start, by webhook id; `FIRST` for a webhook without an entry. */
  freeByWebhook(): Record<number, number> {
    return Object.fromEntries(
      [...this.uses].map(([id, { allowed, underWay }]) => [id, Math.max(0, allowed - underWay)]),
    );
  }

  begin(webhookId: number): void {
    const { underWay, allowed } = this.uses.get(webhookId) ?? { underWay: 0, allowed: FIRST };
    this.uses.set(webhookId, { underWay: underWay + 1, allowed });
  }

  end(webhookId: number, outcome: { succeeded: boolean; tookMs: number }): void {
    const { underWay, allowed } = this.uses.get(webhookId)!;
    const isQuick = outcome.succeeded && outcome.tookMs < QUICK_MS;
    const next = isQuick ? Math.min(MOST, allowed + 1) : Math.max(LEAST, Math.floor(allowed / 2));
    this.uses.delete(webhookId);
    this.uses.set(webhookId, { underWay: underWay - 1, allowed: next });
    for (const [id, use] of this.uses) {
      if (this.uses.size <= MAX_REMEMBERED) {
        break;
      }
      if (use.underWay === 0) {
        this.uses.delete(id);
      }
    }
  }
}
