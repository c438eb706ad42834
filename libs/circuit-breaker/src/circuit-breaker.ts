export interface CircuitBreakerOptions {
  /** Failures in a row that open the circuit. */
  failures: number;
  /** Pause between two probes while it is open, in milliseconds. */
  probeMs: number;
  /** Asks whether the dependency is back; rejects when it is not. */
  probe: () => Promise<unknown>;
  /** Told once for every change. */
  onChange: (open: boolean) => void;
}

/**
 * Keeps requests from waiting for a dependency that is away. It opens after some failures in a row; from then on it
 * asks by itself, beside the requests, and closes when it is answered.
 */
export class CircuitBreaker {
  private failed = 0;
  private opened = false;
  private timer: NodeJS.Timeout | null = null;
  private closed = false;

  constructor(private readonly options: CircuitBreakerOptions) {}

  /** True while the dependency must not be asked. */
  get isOpen(): boolean {
    return this.opened;
  }

  succeeded(): void {
    this.failed = 0;
  }

  failedOnce(): void {
    this.failed += 1;
    if (this.failed >= this.options.failures) {
      this.open();
    }
  }

  /** Opens at once: the dependency is known to be away. */
  open(): void {
    if (!this.opened && !this.closed) {
      this.opened = true;
      this.options.onChange(true);
      this.schedule();
    }
  }

  /** Stops probing for good. */
  stop(): void {
    this.closed = true;
    if (this.timer) {
      clearTimeout(this.timer);
    }
  }

  private schedule(): void {
    this.timer = setTimeout(() => void this.probe(), this.options.probeMs);
    this.timer.unref();
  }

  private async probe(): Promise<void> {
    try {
      await this.options.probe();
    } catch {
      if (!this.closed) {
        this.schedule();
      }
      return;
    }
    this.failed = 0;
    this.opened = false;
    if (!this.closed) {
      this.options.onChange(false);
    }
  }
}
