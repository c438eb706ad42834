import { MINUTE_MS, type WindowState, newWindowState } from '../rate-window';

/** Addresses are anybody's to invent, so their number is bounded; the oldest leave first. */
const MAX_ADDRESSES = 200_000;

/** The windows of the addresses from which requests without a valid key have lately come. */
export class AddressMemory {
  private readonly addresses = new Map<string, WindowState>();

  get size(): number {
    return this.addresses.size;
  }

  windowsOf(address: string, now: number): WindowState {
    let windows = this.addresses.get(address);
    if (!windows) {
      if (this.addresses.size >= MAX_ADDRESSES) {
        this.addresses.delete(this.addresses.keys().next().value!);
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

  clear(): void {
    this.addresses.clear();
  }
}
