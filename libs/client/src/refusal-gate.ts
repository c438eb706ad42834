import type { PetStoreError } from './errors.ts';

/**
 * Holds all requests of a client after a 429 until its `Retry-After` has passed. Earlier requests would be refused as
 * well, and the service bans keys that keep sending.
 */
export class RefusalGate {
  private refusal?: { error: PetStoreError; until: number };
  private turn = 0;

  /** A mark for a request that is about to be sent; pass it to `hear` with the response. */
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
   * Opens the gate if a response reports remaining requests: a larger plan applies immediately, and `GET /rate-limit`
   * is never refused. Responses to requests sent before the refusal are ignored.
   * @param mark the result of `send` for the request
   */
  hear(remaining: number | undefined, mark: number): void {
    if (remaining !== undefined && remaining > 0 && mark === this.turn) {
      this.refusal = undefined;
    }
  }

  /**
   * How long the gate stays closed, and the refusal that closed it; undefined while it is open.
   * @param now milliseconds of the client's clock
   */
  held(now: number): { seconds: number; error: PetStoreError } | undefined {
    if (this.refusal === undefined || this.refusal.until <= now) {
      return undefined;
    }
    return { seconds: (this.refusal.until - now) / 1_000, error: this.refusal.error };
  }
}
