import { LRUCache } from 'lru-cache';
import type { Decision } from '../rules/decision';
import type { Subject } from '../counting/subject';

/** How long a refusal is repeated unasked: a lifted ban has to hold everywhere within a second. */
const KNOWN_MS = 900;
const MAX_KNOWN = 50_000;

interface Refusal {
  decision: Decision;
  /** On our own clock. */
  knownAt: number;
}

/**
 * Refusals that another question would only repeat: of a banned key, and of an address over its limit. A key that is
 * over its limit but not banned is not among them, because each of its refusals is a strike that has to be counted.
 */
export class KnownRefusals {
  private readonly refusals = new LRUCache<string, Refusal>({ max: MAX_KNOWN });

  remember(subject: Subject, decision: Decision, now: number): void {
    if (decision.outcome === 'banned' || (decision.outcome === 'limited' && subject.kind === 'address')) {
      this.refusals.set(nameOf(subject), { decision, knownAt: now });
    }
  }

  forgetAll(): void {
    this.refusals.clear();
  }

  /** The refusal as it reads now; null when it has to be asked for. */
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
    // Waits are whole seconds rounded up, so the last one of them is not repeated but asked for.
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
