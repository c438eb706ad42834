import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { RepeatingTask } from '#libs/clock';
import { ServiceUnavailableError } from '#libs/http';
import { type EventFilter, type FeedPosition, type StoredEvent, matches } from './event.entity';
import { type EventPage, EventReader } from './event-reader';

/** How often the feed is read while a request waits. */
const POLL_MS = 200;
/** Events read at a time. */
const BATCH = 500;
/** Maximum number of waiting requests, in total and per client. */
const MAX_WAITS = 2_000;
const MAX_OF_CLIENT = 50;

/** A request that waits at the end of the feed. */
export interface Waiting {
  client: number;
  /** Up to where it has seen the feed. */
  after: FeedPosition;
  filter: EventFilter;
  /** Maximum number of events. */
  most: number;
}

interface Wait extends Waiting {
  found: StoredEvent[];
  end: () => void;
}

/** New events are read once, however many requests wait, and matched in memory. Nothing is read while no request waits. */
@Injectable()
export class EventTail implements OnModuleDestroy {
  private readonly waits = new Set<Wait>();
  private isOver = false;
  private readonly task = new RepeatingTask({
    name: 'Reading new events for waiting requests',
    work: () => this.readOn(),
    everyMs: () => (this.waits.size > 0 ? POLL_MS : null),
  });

  constructor(private readonly events: EventReader) {}

  get waiting(): number {
    return this.waits.size;
  }

  async onModuleDestroy(): Promise<void> {
    this.end();
    await this.task.stop();
  }

  /** Ends all waits and prevents new ones. */
  end(): void {
    this.isOver = true;
    this.waits.forEach((wait) => wait.end());
  }

  /**
   * Waits until matching events are committed. The page is empty after the timeout, at the end of the service, and when events
   * were lost (the next read of the feed tells).
   * @param signal also ends the wait
   * @throws ApiError 503 if the client waits too often already, or the instance has no place left
   */
  async next(waiting: Waiting, milliseconds: number, signal: AbortSignal): Promise<EventPage> {
    const ofClient = [...this.waits].filter(({ client }) => client === waiting.client).length;
    if (ofClient >= MAX_OF_CLIENT || this.waits.size >= MAX_WAITS) {
      throw new ServiceUnavailableError();
    }
    const wait: Wait = { ...waiting, found: [], end: () => undefined };
    if (!this.isOver && !signal.aborted) {
      await this.untilEnd(wait, milliseconds, signal);
    }
    const { found, after, client } = wait;
    const last = found.at(-1);
    const reached = last === undefined ? after : await this.events.placeAt(last.position, client);
    return { events: found, reached, hasMore: false };
  }

  private async untilEnd(wait: Wait, milliseconds: number, signal: AbortSignal): Promise<void> {
    const ended = new Promise<void>((resolve) => (wait.end = () => resolve()));
    const timer = setTimeout(wait.end, milliseconds);
    signal.addEventListener('abort', wait.end);
    this.waits.add(wait);
    if (this.waits.size === 1) {
      this.task.start();
    }
    await ended;
    clearTimeout(timer);
    signal.removeEventListener('abort', wait.end);
    this.waits.delete(wait);
  }

  /** Starts where the request stands that has seen least. Those that come meanwhile may have seen less: the next run is theirs. */
  private async readOn(): Promise<void> {
    const waits = [...this.waits];
    const positions = waits.map(({ after }) => after);
    let from = positions.reduce((least, one) => (one.position < least.position ? one : least), positions[0]!);
    for (let more = waits.length > 0; more; ) {
      const page = await this.events.after(from, {}, BATCH);
      waits.forEach((wait) => (page.isLost ? wait.end() : show(wait, page)));
      from = page.reached;
      more = page.hasMore && !page.isLost;
    }
  }
}

function show(wait: Wait, { events, reached }: EventPage): void {
  const { after, filter, most } = wait;
  const found = events.filter((event) => event.position > after.position && matches(event, filter));
  if (found.length > 0) {
    wait.found = found.slice(0, most);
    wait.end();
  } else if (reached.position > after.position) {
    wait.after = reached;
  }
}
