import type { Send } from './call.ts';
import type { Event, EventType } from './generated/api.ts';
import { PetStoreError } from './responses.ts';
import { nextCursor } from './results.ts';
import type { Configuration } from './options.ts';

/** The event types that match `Type`. */
export type EventOf<Type extends EventType, Kind = Event> = Kind extends { type: infer Own }
  ? [Own & Type] extends [never]
    ? never
    : Kind & { type: Own & Type }
  : never;

export interface EventsInput<Type extends EventType = EventType> {
  /** Only events of these types; all by default. */
  types?: Type[];
  /** Only events about this pet, its stock and its orders. */
  petId?: number;
  /** Where to continue: the `cursor` of an earlier stream, or `now`. Default: the oldest event. */
  cursor?: string;
  /** Continues with new events as they occur, instead of ending with the newest one. */
  follow?: boolean;
  signal?: AbortSignal;
}

const LIST_EVENTS = { method: 'GET', path: '/events' };
/** Shorter than the timeout of an attempt. */
const MAX_WAIT_SECONDS = 25;
/** Pause after a page that returns empty before its wait is over (the service restarts, or too many requests wait). */
const PAUSE_MS = 1_000;

/** The events of the feed in order. With `follow` it continues after temporary errors, however long they last. */
export class EventStream<Type extends EventType = EventType> implements AsyncIterable<EventOf<Type>> {
  private position: string | undefined;

  constructor(
    private readonly send: Send,
    private readonly configuration: Configuration,
    private readonly input: EventsInput<Type>,
  ) {
    this.position = input.cursor;
  }

  /**
   * Where to continue later. It advances after all events of a page were read, so the last ones may be repeated. `now`
   * becomes a position with the first response, before any event.
   */
  get cursor(): string | undefined {
    return this.position;
  }

  /** @throws PetStoreError for permanent errors; the signal's reason */
  async *[Symbol.asyncIterator](): AsyncGenerator<EventOf<Type>, void, undefined> {
    const { sleep, now } = this.configuration;
    const { follow = false, signal = new AbortController().signal } = this.input;
    for (;;) {
      signal.throwIfAborted();
      const startedAt = now();
      try {
        const { events, cursor } = await this.readPage(signal);
        yield* events;
        const isEnd = events.length === 0 && cursor === this.position;
        this.position = cursor;
        if (isEnd && !follow) {
          return;
        }
        if (isEnd && now() - startedAt < PAUSE_MS) {
          await sleep(PAUSE_MS, signal);
        }
      } catch (error) {
        if (!follow || !mayPass(error)) {
          throw error;
        }
        await sleep((error.retryAfterSeconds ?? 1) * 1_000, signal);
      }
    }
  }

  private async readPage(
    signal: AbortSignal,
  ): Promise<{ events: EventOf<Type>[]; cursor: string | undefined }> {
    const { types, petId, follow = false } = this.input;
    const patience = Math.floor(this.configuration.attemptTimeoutSeconds) - 5;
    // Who breaks off during a wait from `now` would have no cursor to return to.
    const mayWait = follow && this.position !== 'now';
    const wait = mayWait ? Math.max(0, Math.min(MAX_WAIT_SECONDS, patience)) : 0;
    const query = { limit: 100, type: types, petId, cursor: this.position, wait };
    const { data, response } = await this.send(LIST_EVENTS, { query, signal });
    return { events: data as EventOf<Type>[], cursor: nextCursor(response.headers) ?? this.position };
  }
}

function mayPass(error: unknown): error is PetStoreError {
  return (
    error instanceof PetStoreError && (error.status === 0 || error.status === 429 || error.status >= 500)
  );
}
