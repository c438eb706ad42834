import type { EventDto, EventReader } from '../../modules/events';
import { administer } from '../command/command';
import { interruptible } from '../command/interruption';

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
  const { EventReader, EVENTS_CHANNEL, toEventDto } = await import('../../modules/events/index.js');
  const { NotificationListener } = await import('#libs/database');
  const { Alarm } = await import('#libs/clock');
  await administer((services) =>
    interruptible('no more events are shown', async (signal) => {
      const events = services.get(EventReader);
      const news = new Alarm();
      signal.addEventListener('abort', () => news.ring());
      const unsubscribe = await services.get(NotificationListener).subscribe({
        channels: [EVENTS_CHANNEL],
        onNotification: () => news.ring(),
        // Reads events that were missed while not listening.
        onState: (listening) => listening && news.ring(),
      });
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
            await news.wait();
          }
        }
      } finally {
        await unsubscribe();
      }
    }),
  );
}
