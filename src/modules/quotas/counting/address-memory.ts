import { MINUTE_MS, type WindowState, newWindowState } from '../rules/rate-window';

/** Bounded, because clients can use any number of addresses; the oldest are evicted first. */
const MAX_ADDRESSES = 200_000;

/** The windows of addresses that have recently sent requests without a valid key. */
export class AddressMemory {
  private readonly addresses = new Map<string, WindowState>();
  /** Kept between evictions: a new iterator would skip all deleted slots of the map each time. */
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

  /** Removes addresses whose minute is over. */
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
}
