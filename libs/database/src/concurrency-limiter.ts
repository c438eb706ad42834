import type { AsyncResource } from 'node:async_hooks';

/** A task that takes longer than this stops blocking the next one, because a connection can hang until its timeout. */
const PATIENCE_MS = 100;
/** Maximum connections used at a time, including hanging ones. */
const MAX_RUNNING = 4;

/** Limits concurrency: a few tasks at a time, plus one more for each that takes over 100 ms; four in total by default. */
export class ConcurrencyLimiter {
  private running = 0;
  private blocking = 0;
  private isScheduled = false;

  /**
   * @param onFree called when a slot becomes free, and by `soon`
   * @param max concurrent tasks, without slow ones
   * @param maxWithSlow concurrent tasks, including slow ones
   */
  constructor(
    private readonly onFree: () => void,
    private readonly max = 1,
    private readonly maxWithSlow = MAX_RUNNING,
  ) {}

  /** True if a task may start. */
  get isFree(): boolean {
    return this.blocking < this.max && this.running < this.maxWithSlow;
  }

  /** True if no task runs. */
  get isIdle(): boolean {
    return this.running === 0;
  }

  /**
   * Calls `onFree` after this turn of the event loop, so that the requests of the turn share a task. If no slot is
   * free, it is called when one becomes free.
   */
  soon(): void {
    if (!this.isScheduled && this.isFree) {
      this.isScheduled = true;
      setImmediate(() => {
        this.isScheduled = false;
        this.onFree();
      });
    }
  }

  /**
   * Runs a task; requires `isFree`.
   * @param context in which the task runs, so that it is in the trace of the request that it is for, and not of the one
   * whose end made it start
   * @param work must not reject
   * @param onSlow called if the task has stopped blocking others before its end
   */
  async run(context: AsyncResource, work: () => Promise<void>, onSlow?: () => void): Promise<void> {
    let isBlocking = true;
    this.blocking += 1;
    this.running += 1;
    const stopBlocking = (): void => {
      if (isBlocking) {
        isBlocking = false;
        this.blocking -= 1;
      }
    };
    const patience = setTimeout(() => {
      stopBlocking();
      onSlow?.();
      this.onFree();
    }, PATIENCE_MS);
    await context.runInAsyncScope(work);
    clearTimeout(patience);
    this.running -= 1;
    stopBlocking();
    this.onFree();
  }
}
