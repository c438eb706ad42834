import { LRUCache } from 'lru-cache';
import type { Decision } from '../rules/decision';
import type { Subject } from './quota-store';

/** How long a refusal is cached. Below a second, because an unban must apply everywhere within a second. */
const KNOWN_MS = 900;
const MAX_KNOWN = 50_000;

interface Refusal {
  decision: Decision;
  /** On the clock of this process. */
  knownAt: number;
}

/**
 * Caches refusals of banned keys and of addresses over their limit. Refusals of a key over its limit are not cached,
 * because each one is a strike.
 */
export class RefusalCache {
  private readonly refusals = new LRUCache<string, Refusal>({ max: MAX_KNOWN });

  remember(subject: Subject, decision: Decision, now: number): void {
    if (decision.outcome === 'banned' || (decision.outcome === 'limited' && subject.kind === 'address')) {
      this.refusals.set(nameOf(subject), { decision, knownAt: now });
    }
  }

  clear(): void {
    this.refusals.clear();
  }

  /** The cached refusal, adjusted to the time; null if there is none. */
  find(subject: Subject, now: number): Decision | null {
    if (this.refusals.size === 0) {
      return null;
    }
    const known = this.refusals.get(nameOf(subject));
    if (!known) {
      return null;
    }
    const age = now - known.knownAt;
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
