import { Command, Option } from 'nest-commander';
import { Alarm } from '#libs/clock';
import { NotificationListener } from '#libs/database';
import {
  EVENTS_CHANNEL,
  EVENT_TYPES,
  type EventDto,
  EventReader,
  type EventType,
  toEventDto,
} from '../../modules/events';
import { ReportingCommand } from '../command/command';
import { UsageError } from '../command/command-failure';
import { interruptible } from '../command/interruption';
import { type OutputOptions, type Row, isForPeople, print, printMany } from '../output/output';
import { identifier, wholeNumber } from '../command/parse';
import { printableJson } from '../../runtime/messages';

/** Events read at a time. */
const BATCH = 500;

type Filter = Parameters<EventReader['after']>[1];
type StoredEvent = Parameters<typeof toEventDto>[0];

interface EventsOptions extends OutputOptions {
  type?: string[];
  pet?: number;
  limit: string;
  follow?: boolean;
}

@Command({ name: 'events', description: 'show what happened in the store, newest last' })
export class EventsCommand extends ReportingCommand {
  protected override readonly examples = [
    'events',
    'events --type order.placed --limit 5',
    'events --pet 1 --follow --json',
  ];

  constructor(
    private readonly events: EventReader,
    private readonly listener: NotificationListener,
  ) {
    super();
  }

  @Option({ flags: '--type <types...>', description: 'only events of these types, such as order.placed' })
  parseType(text: string, before: string[] = []): string[] {
    return [...before, text];
  }

  @Option({ flags: '--pet <id>', description: 'only events about this pet, its stock and its orders' })
  parsePet(text: string): number {
    return identifier('--pet', text);
  }

  @Option({ flags: '--limit <events>', description: 'maximum number of events', defaultValue: '20' })
  parseLimit(text: string): string {
    return text;
  }

  @Option({
    flags: '--follow',
    description: 'keep printing new events until Ctrl-C; --json prints one per line',
  })
  parseFollow(): boolean {
    return true;
  }

  async run(_arguments: string[], { type, pet, limit, follow, ...options }: EventsOptions): Promise<void> {
    const unknown = type?.find((one) => !(EVENT_TYPES as readonly string[]).includes(one));
    if (unknown !== undefined) {
      throw new UsageError(`--type must be one of ${EVENT_TYPES.join(', ')}, not ${unknown}.`);
    }
    const filter = { type: type as EventType[] | undefined, petId: pet };
    const max = wholeNumber('--limit', limit, { min: 1, max: 10_000 });
    await this.store.open();
    if (follow) {
      const report = isForPeople(options) ? inALine : inJson;
      await this.follow(filter, max, (event) => print(report(toEventDto(event))));
      return;
    }
    const events = (await this.events.newest(filter, max)).map(toEventDto);
    await printMany(events.map(isForPeople(options) ? toRow : forPrograms), options, 'There are no events.');
  }

  /** Reports the newest events, and then each new one when it is committed, until Ctrl-C. */
  private follow(filter: Filter, max: number, report: (event: StoredEvent) => void): Promise<void> {
    return interruptible('no more events are shown', async (signal) => {
      const news = new Alarm();
      signal.addEventListener('abort', () => news.ring());
      const unsubscribe = await this.listener.subscribe({
        channels: [EVENTS_CHANNEL],
        onNotification: () => news.ring(),
        // Reads events that were missed while not listening.
        onState: (listening) => listening && news.ring(),
      });
      try {
        let position = await this.events.end();
        const earlier = (await this.events.newest(filter, max)).filter((event) => event.position <= position);
        earlier.forEach(report);
        for (;;) {
          signal.throwIfAborted();
          const { events: found, reached, hasMore } = await this.events.after(position, filter, BATCH);
          found.forEach(report);
          position = reached;
          if (!hasMore) {
            await news.wait();
          }
        }
      } finally {
        await unsubscribe();
      }
    });
  }
}

function forPrograms(event: EventDto): Row {
  return { ...event };
}

function toRow({ timestamp, type, data }: EventDto) {
  return { timestamp, type, data: printableJson(data as Row) };
}

function inALine(event: EventDto): string {
  const { timestamp, type, data } = toRow(event);
  return `${timestamp}  ${type.padEnd(17)}  ${data}`;
}

function inJson(event: EventDto): string {
  return printableJson({ ...event });
}
