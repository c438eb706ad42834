import type { AsyncResource } from 'node:async_hooks';

/** Work that takes longer than this stops blocking the next task, because a connection can hang until its timeout. */
const PATIENCE_MS = 100;
/** Maximum connections used at a time, including hanging ones. */
const MAX_UNDER_WAY = 4;

/** Limits concurrency: a few tasks at a time, plus one more for each that takes over 100 ms; four in total by default. */
export class Turns {
  private underWay = 0;
  private taken = 0;
  private isScheduled = false;

  /**
   * @param onChange called when a slot becomes free, and by `soon`
   * @param atOnce concurrent tasks, without slow ones
   * @param most concurrent tasks, including slow ones
   */
  constructor(
    private readonly onChange: () => void,
    private readonly atOnce = 1,
    private readonly most = MAX_UNDER_WAY,
  ) {}

  /** True if a task may start. */
  get free(): boolean {
    return this.taken < this.atOnce && this.underWay < this.most;
  }

  /**
   * Calls `onChange` after this turn of the event loop, so that the requests of the turn share a task. If no slot is
   * free, it is called when one becomes free.
   */
  soon(): void {
    if (!this.isScheduled && this.free) {
      this.isScheduled = true;
      setImmediate(() => {
        this.isScheduled = false;
        this.onChange();
      });
    }
  }

  /**
   * Runs a task; requires `free`.
   * @param caller the context in which the task runs, so that it is in the trace of the request that it is for, and not of
   * the one whose end made it start
   * @param work must not reject
   */
  async take(caller: AsyncResource, work: () => Promise<void>): Promise<void> {
    let holdsTurn = true;
    this.taken += 1;
    this.underWay += 1;
    const giveTurnBack = (): void => {
      if (holdsTurn) {
        holdsTurn = false;
        this.taken -= 1;
      }
    };
    const patience = setTimeout(() => {
      giveTurnBack();
      this.onChange();
    }, PATIENCE_MS);
    await caller.runInAsyncScope(work);
    clearTimeout(patience);
    this.underWay -= 1;
    giveTurnBack();
    this.onChange();
  }
}
