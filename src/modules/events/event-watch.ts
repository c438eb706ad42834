import type { EventFilter } from './event-reader';
import type { StoredEvent } from './stored-event';

/** One request that waits at the end of the feed, and what it waits for. */
export class EventWatch {
  private readonly found: StoredEvent[] = [];
  private settle?: () => void;
  private ended = false;

  /**
   * @param after position of the last event that it knows
   * @param most events that it takes
   */
  constructor(
    private readonly after: number,
    private readonly filter: EventFilter,
    private readonly most: number,
    readonly client: number,
    private readonly onClose: () => void,
  ) {}

  /** Takes note of new events, which come in their order and without a gap. */
  show(events: readonly StoredEvent[]): void {
    const wanted = events.filter((event) => this.wants(event));
    this.found.push(...wanted.slice(0, this.most - this.found.length));
    if (this.found.length > 0) {
      this.settle?.();
    }
  }

  /** Lets it wait no longer. */
  end(): void {
    this.ended = true;
    this.settle?.();
  }

  close(): void {
    this.onClose();
  }

  /**
   * The events that came since it watches, as soon as there are any; none when the time is over or the wait was ended.
   * @param signal ends the wait as well
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
