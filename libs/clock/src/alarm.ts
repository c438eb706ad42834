/** Lets a loop sleep until there is work. A ring that nobody waits for ends the next wait. */
export class Alarm {
  private rung = false;
  private wakeUp?: () => void;

  ring(): void {
    this.rung = true;
    this.wakeUp?.();
  }

  /** Resolves on a ring, or after the timeout in milliseconds if given. */
  async wait(timeoutMs?: number): Promise<void> {
    if (!this.rung) {
      await new Promise<void>((resolve) => {
        const timer = timeoutMs === undefined ? undefined : setTimeout(resolve, timeoutMs);
        this.wakeUp = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.rung = false;
  }
}
