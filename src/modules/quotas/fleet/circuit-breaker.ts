export interface CircuitBreakerOptions {
  /** Consecutive failures that open the circuit; failures of concurrent requests count as one. */
  failures: number;
  /** Pause between two probes while it is open, in milliseconds. */
  probeMs: number;
  /** Rejects while the dependency is unavailable. */
  probe: () => Promise<unknown>;
  /** Called once for every change. */
  onChange: (open: boolean) => void;
}

/**
 * Keeps requests from waiting for an unavailable dependency. It opens after several failures in a row, then probes in
 * the background, and closes when a probe succeeds.
 * Use: `const attempt = breaker.attempt()` before the request, then `succeeded()` or `failed(attempt)`.
 */
export class CircuitBreaker {
  private failures = 0;
  private opened = false;
  private timer: NodeJS.Timeout | null = null;
  private closed = false;

  constructor(private readonly options: CircuitBreakerOptions) {}

  /** True while the dependency must not be called. */
  get isOpen(): boolean {
    return this.opened;
  }

  /** Call before each request; pass the result to `failed`. */
  attempt(): number {
    return this.failures;
  }

  succeeded(): void {
    this.failures = 0;
  }

  /** @param attempt the result of `attempt()` */
  failed(attempt: number): void {
    // An outage fails all requests in flight at once; they count as one failure.
    if (attempt < this.failures) {
      return;
    }
    this.failures += 1;
    if (this.failures >= this.options.failures) {
      this.open();
    }
  }

  /** Opens immediately: the dependency is known to be unavailable. */
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
