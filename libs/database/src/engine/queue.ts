import { AsyncResource } from 'node:async_hooks';

interface FairQueueOptions {
  /** Maximum queue length, in total and per owner. */
  max: number;
  maxOfOwner: number;
  /** How long an item may wait, within a tenth. */
  timeoutMs: number;
}

/** An item found the queue full, or has waited too long. */
export class OverloadedError extends Error {}

/** Somebody who waits for the result of an item. */
export interface Waiting {
  owner: number;
  since: number;
  /** The context of the request, whose trace shows the work. */
  context: AsyncResource;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

/** How often late items are looked for, within the timeout. */
const CHECKS = 10;

/** A queue that takes turns between owners, so that one owner's backlog does not delay the others. */
export class FairQueue<Item extends object> {
  /**
   * In the order of their turns. Replaced by each `take`: a Map that lives long and changes often keeps its old hash tables
   * alive until a full garbage collection, because each refers to the next.
   */
  private byOwner = new Map<number, (Item & Waiting)[]>();
  private count = 0;
  private timer?: NodeJS.Timeout;

  /** @param name of the work, for traces */
  constructor(
    private readonly name: string,
    private readonly options: FairQueueOptions,
  ) {}

  get size(): number {
    return this.count;
  }

  /**
   * Adds an item, which becomes an entry of the queue: to copy it would take longer than all else here.
   * @returns what it is resolved with, by who takes it
   * @throws what it is rejected with; OverloadedError if the queue is full, or nobody takes it in time
   */
  add<Result>(owner: number, item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      const items = this.byOwner.get(owner) ?? [];
      const { max, maxOfOwner } = this.options;
      if (this.count >= max || items.length >= maxOfOwner) {
        reject(this.overloaded());
        return;
      }
      const entry = item as Item & Waiting;
      entry.owner = owner;
      entry.since = performance.now();
      entry.context = new AsyncResource(this.name);
      entry.resolve = resolve as Waiting['resolve'];
      entry.reject = reject;
      items.push(entry);
      this.byOwner.set(owner, items);
      this.count += 1;
      this.watch();
    });
  }

  /** Returns taken items to the front of their owners' queues. Ignores the limits. */
  putBack(items: readonly (Item & Waiting)[]): void {
    for (const item of [...items].reverse()) {
      this.byOwner.set(item.owner, [item, ...(this.byOwner.get(item.owner) ?? [])]);
      this.count += 1;
    }
    this.watch();
  }

  /**
   * Removes items, one per owner in turn. Owners that got a turn move to the end.
   * @param accept whether to take an item; called at most once for each, in the order in which they are taken
   */
  take(accept: (item: Item & Waiting) => boolean, max = Infinity): (Item & Waiting)[] {
    const taken: (Item & Waiting)[] = [];
    if (this.count === 0) {
      return taken;
    }
    const all = [...this.byOwner].map(
      ([owner, items]): Line<Item & Waiting> => ({ owner, items, seen: 0, left: [] }),
    );
    let lines = all;
    while (lines.length > 0 && taken.length < max) {
      lines = lines.filter((line) => taken.length === max || takeNext(line, accept, taken));
    }
    const unserved = all.filter(({ seen, left }) => left.length === seen);
    const served = all.filter(({ seen, left }) => left.length < seen);
    this.byOwner = new Map();
    for (const { owner, items, seen, left } of [...unserved, ...served]) {
      if (left.length + items.length > seen) {
        this.byOwner.set(owner, seen === left.length ? items : [...left, ...items.slice(seen)]);
      }
    }
    this.count -= taken.length;
    return taken;
  }

  private overloaded(): Error {
    return new OverloadedError(`Too many wait for the database: ${this.name}.`);
  }

  /** Refuses late items, even while nobody takes any. */
  private watch(): void {
    const { timeoutMs } = this.options;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      const deadline = performance.now() - timeoutMs;
      this.take(({ since }) => since < deadline).forEach(({ reject }) => reject(this.overloaded()));
      if (this.count > 0) {
        this.watch();
      }
    }, timeoutMs / CHECKS).unref();
  }
}

/** The items of an owner: `seen` of them were offered, and those in `left` were not taken. */
interface Line<Item> {
  owner: number;
  items: Item[];
  seen: number;
  left: Item[];
}

/** @returns false at the end of the line */
function takeNext<Item>(line: Line<Item>, accept: (item: Item) => boolean, taken: Item[]): boolean {
  while (line.seen < line.items.length) {
    const item = line.items[line.seen]!;
    line.seen += 1;
    if (accept(item)) {
      taken.push(item);
      return true;
    }
    line.left.push(item);
  }
  return false;
}

/** A task that takes longer than this stops blocking the next one, because a connection can hang until its timeout. */
const PATIENCE_MS = 100;
/** Maximum connections used at a time, including hanging ones. */
const MAX_RUNNING = 4;

interface TaskOptions {
  /** How many `isFreeFor` asks for while the task blocks others. Default: 0. */
  minWaiting?: number;
  /** Called if the task stops blocking others before its end. */
  onSlow?: () => void;
}

interface Task extends TaskOptions {
  since: number;
}

/** Limits concurrency: a few tasks at a time, plus one more for each that takes over 100 ms; four in total by default. */
export class ConcurrencyLimiter {
  private running = 0;
  /** The tasks that block others, the oldest first. */
  private blocking: Task[] = [];
  private isScheduled = false;
  /** One for all tasks, because most end long before. */
  private timer?: NodeJS.Timeout;

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
    return this.blocking.length < this.max && this.running < this.maxWithSlow;
  }

  /** True if a task may start for this many. */
  isFreeFor(waiting: number): boolean {
    return this.isFree && this.blocking.every(({ minWaiting = 0 }) => waiting >= minWaiting);
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
   */
  async run(context: AsyncResource, work: () => Promise<void>, options: TaskOptions = {}): Promise<void> {
    const task: Task = { ...options, since: performance.now() };
    this.running += 1;
    this.blocking.push(task);
    this.watch();
    await context.runInAsyncScope(work);
    this.running -= 1;
    this.blocking = this.blocking.filter((other) => other !== task);
    this.onFree();
  }

  private watch(): void {
    const [oldest] = this.blocking;
    if (oldest !== undefined) {
      const left = oldest.since + PATIENCE_MS - performance.now();
      this.timer ??= setTimeout(() => this.endSlow(), Math.max(left, 1)).unref();
    }
  }

  private endSlow(): void {
    this.timer = undefined;
    const start = performance.now() - PATIENCE_MS;
    const slow = this.blocking.filter(({ since }) => since <= start);
    this.blocking = this.blocking.filter(({ since }) => since > start);
    slow.forEach(({ onSlow }) => onSlow?.());
    if (slow.length > 0) {
      this.onFree();
    }
    this.watch();
  }
}
