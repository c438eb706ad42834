import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { RepeatingTask } from '#libs/background';
import { SERVICE_CALLER_ID } from '#libs/database';
import { ServiceUnavailableError } from '#libs/http';
import { type EventFilter, type EventPage, EventReader, type StoredEvent } from './event-reader';
import type { FeedPosition } from './feed-position';

export const POLL_MS = 200;
export const MAX_READ = 500;
const MAX_WAITERS = 2_000;
const MAX_WAITERS_OF_CLIENT = 50;

interface Waiter {
  clientId: number;
  filter: EventFilter;
  /** The request waits for an event after this position, which increases while new events do not match the filter. */
  after: FeedPosition;
  end: () => void;
}

/**
 * Lets requests wait for new events. Events are read once for all waiting requests, and then filtered for each request
 * in memory.
 */
@Injectable()
export class EventTail implements OnModuleDestroy {
  private readonly waiters = new Set<Waiter>();
  private isOver = false;
  private readonly task = new RepeatingTask({
    name: 'Reading new events for waiting requests',
    work: () => this.readOn(),
    everyMs: () => (this.waiters.size > 0 ? POLL_MS : null),
  });

  constructor(private readonly events: EventReader) {}

  get waiterCount(): number {
    return this.waiters.size;
  }

  async onModuleDestroy(): Promise<void> {
    this.endAllWaits();
    await this.task.stop();
  }

  /** When the service stops, ends the waiting of all requests. Requests that arrive later do not wait at all. */
  endAllWaits(): void {
    this.isOver = true;
    this.waiters.forEach((waiter) => waiter.end());
  }

  /**
   * Waits for an event that matches the filter, at most for the given time.
   * @param signal ends the wait when aborted
   * @returns the position from which the caller reads on, because no event up to this position matches the filter
   * @throws ApiError 503 if too many requests are waiting
   */
  async waitForEvent(
    request: Omit<Waiter, 'end'>,
    milliseconds: number,
    signal: AbortSignal,
  ): Promise<FeedPosition> {
    const ofClient = [...this.waiters].filter(({ clientId }) => clientId === request.clientId).length;
    if (ofClient >= MAX_WAITERS_OF_CLIENT || this.waiters.size >= MAX_WAITERS) {
      throw new ServiceUnavailableError();
    }
    if (this.isOver || signal.aborted) {
      return request.after;
    }
    const waiter: Waiter = { ...request, end: () => undefined };
    const ended = new Promise<void>((resolve) => (waiter.end = resolve));
    const timer = setTimeout(waiter.end, milliseconds);
    signal.addEventListener('abort', waiter.end);
    this.waiters.add(waiter);
    if (this.waiters.size === 1) {
      this.task.start();
    }
    await ended;
    clearTimeout(timer);
    signal.removeEventListener('abort', waiter.end);
    this.waiters.delete(waiter);
    return waiter.after;
  }

  private async readOn(): Promise<void> {
    const waiters = [...this.waiters];
    const positions = waiters.map(({ after }) => after);
    let from = positions.reduce((least, one) => (one.position < least.position ? one : least), positions[0]!);
    for (let more = waiters.length > 0; more;) {
      const page = await this.events.pageAfter(from, {}, MAX_READ, SERVICE_CALLER_ID);
      if (page.isLost) {
        // Events were lost, for example because an older backup was restored. End all waits, so that each request reads from
        // its own position, and finds out whether it has to report the loss to its caller.
        waiters.forEach((waiter) => waiter.end());
        return;
      }
      waiters.forEach((waiter) => showPage(waiter, page));
      from = page.reached;
      more = page.hasMore;
    }
  }
}

function showPage(waiter: Waiter, { events, reached }: EventPage): void {
  const { after, filter } = waiter;
  if (events.some((one) => one.position > after.position && matches(one, filter))) {
    waiter.end();
  } else if (reached.position > after.position) {
    waiter.after = reached;
  }
}

function matches({ petId, event }: StoredEvent, filter: EventFilter): boolean {
  return (filter.type?.includes(event.type) ?? true) && (filter.petId ?? petId) === petId;
}
