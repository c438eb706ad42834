import { performance } from 'node:perf_hooks';

/**
 * The clock of a Redis node, as far as its replies prove it. Its time at a moment of this process may be behind the true one by
 * as much as a reply was on its way, but not ahead of it: so a deadline never comes too late.
 */
export class RedisClock {
  /** What to add to the monotonic clock of this process, in milliseconds; undefined until the node has replied. */
  private offset: number | undefined;

  /** The latest time of Redis that is certain to have come within this many milliseconds from now. */
  in(milliseconds: number): number | undefined {
    return this.offset === undefined ? undefined : Math.floor(performance.now() + milliseconds + this.offset);
  }

  /**
   * @param sentAt when the call was sent, on the monotonic clock of this process
   * @param time what Redis replied, in unix milliseconds
   */
  learn(sentAt: number, time: number): void {
    const lowest = time - performance.now();
    const highest = time + 1 - sentAt;
    // Outside of what this reply proves, the clock of either side was set.
    if (this.offset === undefined || this.offset < lowest || this.offset > highest) {
      this.offset = lowest;
    }
  }
}
