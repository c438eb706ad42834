import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { RepeatingTask } from '#libs/clock';
import { NotificationListener } from '#libs/database';
import { type EventFilter, type FeedPosition, type StoredEvent, matches } from './event-blocks';
import { EVENTS_CHANNEL } from './event-log';
import { EventReader, EventsLost } from './event-reader';

/** Events read at a time. */
const BATCH = 500;
/** Events without a notification are found within this time, and those that could not be read. */
const POLL_MS = 1_000;
/** Maximum number of waiting requests, in total and per client. */
const MAX_WATCHES = 2_000;
const MAX_OF_CLIENT = 50;

/** A request that waits at the end of the feed. */
export interface Watcher {
  /** Up to where it has seen the feed. */
  after: FeedPosition;
  filter: EventFilter;
  /** Maximum number of events. */
  most: number;
  client: number;
}

/** The wait of a request, and the events that it has found. */
export class EventWatch {
  private readonly found: StoredEvent[] = [];
  private settle?: () => void;
  private ended = false;

  constructor(
    readonly watcher: Watcher,
    /** Call it when the request is over. */
    readonly close: () => void,
  ) {}

  /** Adds new events, which must be in order and without gaps. */
  show(events: readonly StoredEvent[]): void {
    const { after, filter, most } = this.watcher;
    const wanted = events.filter((event) => event.position > after.position && matches(event, filter));
    this.found.push(...wanted.slice(0, most - this.found.length));
    if (this.found.length > 0) {
      this.settle?.();
    }
  }

  /** Ends the wait. */
  end(): void {
    this.ended = true;
    this.settle?.();
  }

  /**
   * The matching events since the watch began, as soon as there are any; none after the timeout or the end of the wait.
   * @param signal also ends the wait
   */
  async next(milliseconds: number, signal: AbortSignal): Promise<StoredEvent[]> {
    if (this.found.length === 0 && !this.ended && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        this.settle = () => {
          clearTimeout(timer);
          resolve();
        };
        signal.addEventListener('abort', this.settle, { once: true });
      });
    }
    // A copy: what comes while the response is prepared is behind its cursor.
    return [...this.found];
  }
}

/**
 * The end of the feed, for waiting requests. New events are read once, however many requests wait, and matched in
 * memory. Nothing is read while no request waits.
 */
@Injectable()
export class EventTail implements OnModuleInit, OnModuleDestroy {
  private readonly watches = new Set<EventWatch>();
  /** All waiting requests have seen the events up to this position; undefined if it is unknown. */
  private head?: FeedPosition;
  private ended = false;
  private readonly audience: (() => void)[] = [];
  private readonly task = new RepeatingTask({
    name: 'Reading new events for waiting requests',
    work: () => this.readOn(),
    everyMs: POLL_MS,
  });

  constructor(
    private readonly events: EventReader,
    private readonly listener: NotificationListener,
  ) {}

  get waiting(): number {
    return this.watches.size;
  }

  async onModuleInit(): Promise<void> {
    this.task.start();
    await this.listener.subscribe({
      channels: [EVENTS_CHANNEL],
      onNotification: () => this.wake(),
      // Reads events that were missed while not listening.
      onState: (listening) => listening && this.wake(),
    });
  }

  async onModuleDestroy(): Promise<void> {
    this.end();
    await this.task.stop();
  }

  /** Registers a callback for possible new events, for callers that read the feed themselves. */
  onNews(call: () => void): void {
    this.audience.push(call);
  }

  /** Ends all waits and prevents new ones. */
  end(): void {
    this.ended = true;
    this.watches.forEach((watch) => watch.end());
  }

  /**
   * Starts to watch for events, before it resolves. A caller that then reads the feed once more and finds nothing has
   * missed nothing: what it has seen is not beyond what the tail has seen, so the tail notices if it is lost.
   * @returns undefined if there are too many watches, the service is stopping, or the feed cannot be read
   */
  async watch(watcher: Watcher): Promise<EventWatch | undefined> {
    const ofClient = [...this.watches].filter((watch) => watch.watcher.client === watcher.client).length;
    if (this.ended || this.watches.size >= MAX_WATCHES || ofClient >= MAX_OF_CLIENT) {
      return undefined;
    }
    const watch = new EventWatch(watcher, () => this.watches.delete(watch));
    this.watches.add(watch);
    const hasSeenAsMuch = () => this.head !== undefined && this.head.position >= watcher.after.position;
    if (!hasSeenAsMuch()) {
      await this.task.runNow();
    }
    if (!hasSeenAsMuch()) {
      watch.close();
      return undefined;
    }
    return watch;
  }

  private wake(): void {
    this.audience.forEach((call) => call());
    void this.task.runNow();
  }

  private async readOn(): Promise<void> {
    if (this.watches.size === 0 || this.head === undefined) {
      this.head = this.watches.size === 0 ? undefined : await this.events.end();
      return;
    }
    try {
      for (let more = true; more; ) {
        const { events, reached, hasMore } = await this.events.after(this.head, {}, BATCH);
        this.head = reached;
        this.watches.forEach((watch) => watch.show(events));
        more = hasMore;
      }
    } catch (error) {
      if (!(error instanceof EventsLost)) {
        throw error;
      }
      // The waiting requests return as they are, and the next ones get the error.
      this.head = undefined;
      this.watches.forEach((watch) => watch.end());
    }
  }
}
