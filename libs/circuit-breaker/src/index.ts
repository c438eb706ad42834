export interface CircuitBreakerOptions {
  /** Failures in a row that open the circuit; those that were under way together count as one. */
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
 *
 * Use: `const attempt = breaker.attempt()` before asking, then `succeeded()` or `failed(attempt)`.
 */
export class CircuitBreaker {
  private failures = 0;
  private opened = false;
  private timer: NodeJS.Timeout | null = null;
  private closed = false;

  constructor(private readonly options: CircuitBreakerOptions) {}

  /** True while the dependency must not be asked. */
  get isOpen(): boolean {
    return this.opened;
  }

  /** To be called when asking begins; what it returns tells whether a failure is news. */
  attempt(): number {
    return this.failures;
  }

  succeeded(): void {
    this.failures = 0;
  }

  /** @param attempt what attempt() returned when this was begun */
  failed(attempt: number): void {
    // One pause of the dependency fails everything that was under way. That is one failure, not as many as there were requests.
    if (attempt < this.failures) {
      return;
    }
    this.failures += 1;
    if (this.failures >= this.options.failures) {
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
    this.failures = 0;
    this.opened = false;
    if (!this.closed) {
      this.options.onChange(false);
    }
  }
}
