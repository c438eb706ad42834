/** Lets a loop sleep until somebody has work for it. A ring that nobody waits for is heard by the next who waits. */
export class Alarm {
  private rung = false;
  private wakeUp?: () => void;

  ring(): void {
    this.rung = true;
    this.wakeUp?.();
  }

  /** Resolves when it rings, or after so many milliseconds. */
  async wait(milliseconds: number): Promise<void> {
    if (!this.rung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        this.wakeUp = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.rung = false;
  }
}
