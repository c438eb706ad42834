import { setTimeout as pause } from 'node:timers/promises';

/** Soon enough for what has to hold within a second. */
const PAUSE_MS = 250;

/** Work that has to be done, however often it fails: it is tried again until it succeeds, each by its name. */
export class OwedWork {
  private readonly running = new Set<string>();
  private readonly askedAnew = new Set<string>();
  private closed = false;

  /** @param onFailure told of the first failure of a piece of work, not of those that follow */
  constructor(private readonly onFailure: (name: string, error: unknown) => void) {}

  /** Does the work now; once more when the same is asked for while it is being done. */
  add(name: string, work: () => Promise<void>): void {
    if (this.running.has(name)) {
      this.askedAnew.add(name);
      return;
    }
    this.running.add(name);
    void this.run(name, work);
  }

  /** Gives up what is not done yet; its failures are no longer reported. */
  close(): void {
    this.closed = true;
  }

  private async run(name: string, work: () => Promise<void>): Promise<void> {
    let failures = 0;
    let owed = true;
    while (owed && !this.closed) {
      this.askedAnew.delete(name);
      try {
        await work();
        owed = this.askedAnew.has(name);
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
