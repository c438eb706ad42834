import type { PetStoreError } from './errors.ts';

/**
 * Keeps all requests of a client back after a 429 until its `Retry-After` has passed: each one sent before would be refused
 * as well, and the service bans a key for the eleventh of them.
 */
export class RefusalGate {
  private refusal?: { error: PetStoreError; until: number };
  private turn = 0;

  /** A mark for a request that is sent now, to be handed to `hear` with its answer. */
  send(): number {
    return this.turn;
  }

  /** @param until milliseconds of the client's clock */
  close(error: PetStoreError, until: number): void {
    this.turn += 1;
    if (this.refusal === undefined || until > this.refusal.until) {
      this.refusal = { error, until };
    }
  }

  /**
   * An answer that says that requests remain opens the gate: a larger plan applies at once, and `GET /rate-limit` is never
   * refused. One to a request from before the refusal proves nothing.
   * @param mark what `send` gave for the request
   */
  hear(remaining: number | undefined, mark: number): void {
    if (remaining !== undefined && remaining > 0 && mark === this.turn) {
      this.refusal = undefined;
    }
  }

  /**
   * For how long the gate will stay closed, and for what refusal; undefined while it is open.
   * @param now milliseconds of the client's clock
   */
  held(now: number): { seconds: number; error: PetStoreError } | undefined {
    if (this.refusal === undefined || this.refusal.until <= now) {
      return undefined;
    }
    return { seconds: (this.refusal.until - now) / 1_000, error: this.refusal.error };
  }
}
