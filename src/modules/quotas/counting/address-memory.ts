import { MINUTE_MS, type WindowState, newWindowState } from '../rules/rate-window';

/** Addresses are anybody's to invent, so their number is bounded; the oldest leave first. */
const MAX_ADDRESSES = 200_000;

/** The windows of the addresses from which requests without a valid key have lately come. */
export class AddressMemory {
  private readonly addresses = new Map<string, WindowState>();
  /** Goes on from the oldest to the newest; a new one would pass over all places of those that have left, each time. */
  private oldest = this.addresses.keys();

  get size(): number {
    return this.addresses.size;
  }

  windowsOf(address: string, now: number): WindowState {
    let windows = this.addresses.get(address);
    if (!windows) {
      if (this.addresses.size >= MAX_ADDRESSES) {
        this.forgetOldest();
      }
      windows = newWindowState(now);
      this.addresses.set(address, windows);
    }
    return windows;
  }

  /** Forgets those whose minute is over: nothing of them counts any more. */
  forgetIdle(now: number): void {
    for (const [address, windows] of this.addresses) {
      if (now >= windows.minuteStart + MINUTE_MS) {
        this.addresses.delete(address);
      }
    }
  }

  private forgetOldest(): void {
    let next = this.oldest.next();
    if (next.done) {
      this.oldest = this.addresses.keys();
      next = this.oldest.next();
    }
    this.addresses.delete(next.value!);
  }

  clear(): void {
    this.addresses.clear();
  }
}
