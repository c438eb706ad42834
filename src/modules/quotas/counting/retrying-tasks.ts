import { setTimeout as pause } from 'node:timers/promises';

/** Short, because changes must apply within a second. */
const PAUSE_MS = 250;

/** Runs tasks by name, and retries each until it succeeds. */
export class RetryingTasks {
  private readonly running = new Set<string>();
  private readonly requestedAgain = new Set<string>();
  private closed = false;

  /** @param onFailure called for the first failure of a task only */
  constructor(private readonly onFailure: (name: string, error: unknown) => void) {}

  /** Runs the task now; if it is running already, it runs once more afterwards. */
  add(name: string, work: () => Promise<void>): void {
    if (this.running.has(name)) {
      this.requestedAgain.add(name);
      return;
    }
    this.running.add(name);
    void this.run(name, work);
  }

  /** Stops retrying, and reports no more failures. */
  close(): void {
    this.closed = true;
  }

  private async run(name: string, work: () => Promise<void>): Promise<void> {
    let failures = 0;
    let pending = true;
    while (pending && !this.closed) {
      this.requestedAgain.delete(name);
      try {
        await work();
        pending = this.requestedAgain.has(name);
      } catch (error) {
        failures += 1;
        if (failures === 1 && !this.closed) {
          this.onFailure(name, error);
        }
        await pause(PAUSE_MS, undefined, { ref: false });
      }
    }
    this.running.delete(name);
  }
}
