import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { RepeatingTask } from '#libs/background';
import { ServiceUnavailableError } from '#libs/http';
import type { EventFilter, FeedPosition } from './event.entity';
import { type EventPage, EventReader, type StoredEvent } from './event-reader';

/** How often the feed is read while a request waits. */
const POLL_MS = 200;
const BATCH = 500;
/** Maximum number of waiting requests, in total and per client. */
const MAX_WAITS = 2_000;
const MAX_OF_CLIENT = 50;

/** A request that waits at the end of the feed. */
interface Wait {
  client: number;
  filter: EventFilter;
  /** Nothing up to here is for it. */
  after: FeedPosition;
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
   * Waits until events that match are committed or lost, at most so many milliseconds.
   * @param signal also ends the wait
   * @returns up to where there are none that match
   * @throws ApiError 503 if the client waits too often already, or the instance has no place left
   */
  async next(waiting: Omit<Wait, 'end'>, milliseconds: number, signal: AbortSignal): Promise<FeedPosition> {
    const ofClient = [...this.waits].filter(({ client }) => client === waiting.client).length;
    if (ofClient >= MAX_OF_CLIENT || this.waits.size >= MAX_WAITS) {
      throw new ServiceUnavailableError();
    }
    const wait: Wait = { ...waiting, end: () => undefined };
    const ended = new Promise<void>((resolve) => (wait.end = resolve));
    if (this.isOver || signal.aborted) {
      return wait.after;
    }
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
    return wait.after;
  }

  /** Starts where the request stands that has seen least. Those that come meanwhile may have seen less: the next run is theirs. */
  private async readOn(): Promise<void> {
    const waits = [...this.waits];
    const positions = waits.map(({ after }) => after);
    let from = positions.reduce((least, one) => (one.position < least.position ? one : least), positions[0]!);
    for (let more = waits.length > 0; more;) {
      const page = await this.events.after(from, {}, BATCH);
      waits.forEach((wait) => show(wait, page));
      from = page.reached;
      more = page.hasMore && !page.isLost;
    }
  }
}

function show(wait: Wait, { events, reached, isLost }: EventPage): void {
  const { after, filter } = wait;
  if (isLost || events.some((one) => one.position > after.position && matches(one, filter))) {
    wait.end();
  } else if (reached.position > after.position) {
    wait.after = reached;
  }
}

function matches({ petId, event }: StoredEvent, filter: EventFilter): boolean {
  return (filter.type?.includes(event.type) ?? true) && (filter.petId ?? petId) === petId;
}
