import { LRUCache } from 'lru-cache';
import type { Clock } from '#libs/clock';
import type { Subject, Taken } from './quota-store';

/** How long a refusal is cached. Below a second, because an unban must apply everywhere within a second. */
const KNOWN_MS = 900;
const MAX_KNOWN = 50_000;

interface Refusal {
  decision: Taken;
  /** On the clock of this process. */
  knownAt: number;
}

/**
 * Caches refusals of banned keys and of addresses over their limit. Refusals of a key over its limit are not cached,
 * because each one is a strike.
 */
export class RefusalCache {
  private readonly refusals = new LRUCache<string, Refusal>({ max: MAX_KNOWN });

  constructor(private readonly clock: Clock) {}

  /** The cached refusal, or what `take` decides. */
  takeUnlessKnown(subject: Subject, take: () => Promise<Taken>): Taken | Promise<Taken> {
    return (
      this.find(subject) ??
      take().then((taken) => {
        this.remember(subject, taken);
        return taken;
      })
    );
  }

  clear(): void {
    this.refusals.clear();
  }

  /** Refusals by this instance's share end with the outage of Redis. */
  private remember(subject: Subject, decision: Taken): void {
    const isLasting =
      decision.outcome === 'banned' || (decision.outcome === 'limited' && subject.kind === 'address');
    if (isLasting && !decision.takenLocally) {
      this.refusals.set(nameOf(subject), { decision, knownAt: this.clock.now() });
    }
  }

  /** The cached refusal, adjusted to the time; null if there is none. */
  private find(subject: Subject): Taken | null {
    if (this.refusals.size === 0) {
      return null;
    }
    const known = this.refusals.get(nameOf(subject));
    if (!known) {
      return null;
    }
    const age = this.clock.now() - known.knownAt;
    const { decision } = known;
    // Waits are rounded up to whole seconds, so the last second is not served from the cache.
    if (age < 0 || age >= KNOWN_MS || decision.retryAfterSeconds <= 1) {
      this.refusals.delete(nameOf(subject));
      return null;
    }
    return { ...decision, earnedBanLevel: 0, decidedAt: decision.decidedAt + age };
  }
}

function nameOf(subject: Subject): string {
  return subject.kind === 'client' ? `key ${subject.keyId}` : `address ${subject.address}`;
}
