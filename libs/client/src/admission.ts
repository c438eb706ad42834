// When a request may be sent: a limited number at a time, and none during a refusal.
import type { PetStoreError } from './errors.ts';

/** Limits concurrent requests; the others wait in order. */
export class ConcurrencyLimiter {
  private readonly waiting: (() => void)[] = [];

  constructor(private free: number) {}

  /**
   * Waits for a slot; `release` returns it.
   * @throws the signal's reason when it is aborted first
   */
  async acquire(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.free > 0) {
      this.free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const admit = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        this.waiting.splice(this.waiting.indexOf(admit), 1);
        reject(signal.reason as Error);
      };
      this.waiting.push(admit);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  release(): void {
    const next = this.waiting.shift();
    if (next === undefined) {
      this.free += 1;
    } else {
      next();
    }
  }
}

/**
 * Holds all requests of a client after a 429 until its `Retry-After` has passed. Earlier requests would be refused as
 * well, and the service bans a key at the eleventh refusal.
 */
export class RefusalGate {
  /** Counts refusals. A request remembers it when it is sent, and passes it to `open` with the response. */
  refusals = 0;
  private refusal?: { error: PetStoreError; until: number };

  /** @param until milliseconds of the client's clock */
  close(error: PetStoreError, until: number): void {
    this.refusals += 1;
    if (this.refusal === undefined || until > this.refusal.until) {
      this.refusal = { error, until };
    }
  }

  /**
   * Opens the gate if a response reports remaining requests: a larger plan applies immediately, and `GET /rate-limit`
   * is never refused. Responses to requests sent before the refusal are ignored.
   * @param refusals as counted when the request was sent
   */
  open(remaining: number | undefined, refusals: number): void {
    if (remaining !== undefined && remaining > 0 && refusals === this.refusals) {
      this.refusal = undefined;
    }
  }

  /**
   * How long the gate stays closed, and the refusal that closed it; undefined while it is open.
   * @param now milliseconds of the client's clock
   */
  closedFor(now: number): { seconds: number; error: PetStoreError } | undefined {
    if (this.refusal === undefined || this.refusal.until <= now) {
      return undefined;
    }
    return { seconds: (this.refusal.until - now) / 1_000, error: this.refusal.error };
  }
}
