import type { EventFilter } from './event-reader';
import type { StoredEvent } from './stored-event';

/** A request that waits at the end of the feed, and its filter. */
export class EventWatch {
  private readonly found: StoredEvent[] = [];
  private settle?: () => void;
  private ended = false;

  /**
   * @param after position of the last event that it has seen
   * @param most maximum number of events
   */
  constructor(
    private readonly after: number,
    private readonly filter: EventFilter,
    private readonly most: number,
    readonly client: number,
    private readonly onClose: () => void,
  ) {}

  /** Adds new events, which must be in order and without gaps. */
  show(events: readonly StoredEvent[]): void {
    const wanted = events.filter((event) => this.wants(event));
    this.found.push(...wanted.slice(0, this.most - this.found.length));
    if (this.found.length > 0) {
      this.settle?.();
    }
  }

  /** Ends the wait. */
  end(): void {
    this.ended = true;
    this.settle?.();
  }

  close(): void {
    this.onClose();
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
    return this.found;
  }

  private wants({ position, type, petId }: StoredEvent): boolean {
    return (
      position > this.after &&
      (this.filter.type?.includes(type) ?? true) &&
      (this.filter.petId === undefined || this.filter.petId === petId)
    );
  }
}
