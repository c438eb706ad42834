/** When each session has written last; it remembers those that a replica in use may not have replayed yet. */
export class RecentWrites {
  /** Sorted by time, because a session that writes again goes to the end. */
  private readonly moments = new Map<number, number>();

  /** @param keptMs how long a write is remembered, in milliseconds */
  constructor(private readonly keptMs: number) {}

  get size(): number {
    return this.moments.size;
  }

  /** @param at monotonic milliseconds, not earlier than those of earlier calls */
  add(session: number, at: number): void {
    this.moments.delete(session);
    this.moments.set(session, at);
  }

  /** The moment of the last write; minus infinity when there was none lately. */
  lastOf(session: number): number {
    return this.moments.get(session) ?? -Infinity;
  }

  forgetOld(now: number): void {
    for (const [session, at] of this.moments) {
      if (at > now - this.keptMs) {
        return;
      }
      this.moments.delete(session);
    }
  }
}
