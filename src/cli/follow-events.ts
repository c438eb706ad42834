import type { EventDto, EventReader } from '../modules/events';
import { administer } from './command';
import { interruptible } from './interruption';

type Filter = Parameters<EventReader['after']>[1];

/** Events read at a time. */
const BATCH = 500;

/**
 * Reports the newest events, and then each new one when it is committed, until Ctrl-C.
 * @param most number of existing events
 */
export async function followEvents(
  filter: Filter,
  most: number,
  report: (event: EventDto) => void,
): Promise<void> {
  const { EventReader, EVENTS_CHANNEL, toEventDto } = await import('../modules/events/index.js');
  const { DatabaseUrl, NotificationListener } = await import('#libs/database');
  await administer((services) =>
    interruptible('no more events are shown', async (signal) => {
      const events = services.get(EventReader);
      const news = new News(signal);
      const listener = new NotificationListener({
        url: services.get(DatabaseUrl).value,
        channels: [EVENTS_CHANNEL],
        onNotification: () => news.arrive(),
        // Reads events that were missed while not listening.
        onState: (listening) => listening && news.arrive(),
      });
      await listener.start();
      try {
        let position = await events.end();
        const earlier = (await events.newest(filter, most)).filter((event) => event.position <= position);
        earlier.forEach((event) => report(toEventDto(event)));
        for (;;) {
          signal.throwIfAborted();
          const { events: found, reached, hasMore } = await events.after(position, filter, BATCH);
          found.forEach((event) => report(toEventDto(event)));
          position = reached;
          if (!hasMore) {
            await news.next();
          }
        }
      } finally {
        await listener.close();
      }
    }),
  );
}

/** A signal for new events. It stays set if it arrives while nobody waits. */
class News {
  private hasArrived = false;
  private wake?: () => void;

  constructor(signal: AbortSignal) {
    signal.addEventListener('abort', () => this.arrive());
  }

  arrive(): void {
    this.hasArrived = true;
    this.wake?.();
  }

  async next(): Promise<void> {
    if (!this.hasArrived) {
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
    this.hasArrived = false;
  }
}
