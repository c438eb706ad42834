/** Limits concurrent requests; the others wait in order. */
export class Slots {
  private readonly waiting: (() => void)[] = [];

  constructor(private free: number) {}

  /**
   * Waits for a slot; `give` returns it.
   * @throws the signal's reason when it is aborted first
   */
  async take(signal: AbortSignal): Promise<void> {
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

  give(): void {
    const next = this.waiting.shift();
    if (next === undefined) {
      this.free += 1;
    } else {
      next();
    }
  }
}
