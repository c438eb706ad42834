import { setTimeout as pause } from 'node:timers/promises';
import { Inject } from '@nestjs/common';
import { Command } from 'nest-commander';
import {
  EVENT_TYPES,
  type EventDto,
  EventReader,
  EventsLost,
  type EventType,
  toEventDto,
} from '../../modules/events';
import { formatError, printableJson } from '../../runtime/messages';
import { ResultCommand } from '../command/command';
import { interruptible } from '../command/operator';
import { Flag, Limit, Value, identifier, pastInstant, someOf } from '../command/option';
import { type Row, isForPeople, print, printMany } from '../output/output';

/** Events read at a time. */
const BATCH = 500;
/** How often new events are looked for. */
const POLL_MS = 200;
const LOST =
  'warning: the database has lost events that were shown (a standby took over, or a backup was restored). Events of the last minute before may follow again.';

type Filter = Parameters<EventReader['after']>[1];
type StoredEvent = Parameters<typeof toEventDto>[0];

@Command({ name: 'events', description: 'show what happened in the store, newest last' })
export class EventsCommand extends ResultCommand {
  protected override readonly examples = [
    'events',
    'events --type order.placed --since 2h --limit 1000',
    'events --pet 1 --follow --json',
  ];
  @Inject() private readonly events!: EventReader;

  @Value('--type <types>', 'only events of these types: order.placed,order.cancelled', someOf(EVENT_TYPES))
  type?: EventType[];

  @Value('--pet <id>', 'only events about this pet, its stock and its orders', identifier) pet?: number;
  @Value('--since <when>', 'only events since a day, a time, or 90s, 10m, 2h or 7d ago', pastInstant)
  since?: Date;

  @Limit('events', 10_000, 20) limit!: number;
  @Flag('--follow', 'keep printing new events until Ctrl-C; --json prints one per line') follow?: boolean;

  async run(): Promise<void> {
    const filter = { type: this.type, petId: this.pet };
    await this.store.open();
    if (this.follow) {
      const report = isForPeople(this) ? inALine : (event: EventDto) => printableJson(event);
      await this.reportUntilInterrupted(filter, (event) => print(report(toEventDto(event))));
      return;
    }
    const rows = (await this.newest(filter))
      .map(toEventDto)
      .map((event) => (isForPeople(this) ? toRow(event) : { ...event }));
    await printMany(rows, this, 'There are no events.');
  }

  private async newest(filter: Filter): Promise<StoredEvent[]> {
    const events = await this.events.newest(filter, this.limit);
    const since = this.since?.getTime() ?? 0;
    return events.filter(({ time }) => time >= since * 1_000);
  }

  /** Reports the newest events, and then each new one when it is committed, until Ctrl-C. */
  private reportUntilInterrupted(filter: Filter, report: (event: StoredEvent) => void): Promise<void> {
    return interruptible('no more events are shown', async (signal) => {
      let place = await this.events.end();
      const earlier = await this.newest(filter);
      earlier.filter((event) => event.position <= place.position).forEach(report);
      for (;;) {
        signal.throwIfAborted();
        try {
          const { events: found, reached, hasMore } = await this.events.after(place, filter, BATCH);
          found.forEach(report);
          place = reached;
          if (!hasMore) {
            await pause(POLL_MS, undefined, { signal }).catch(() => undefined);
          }
        } catch (error) {
          if (!(error instanceof EventsLost)) {
            throw error;
          }
          process.stderr.write(formatError(LOST));
          place = error.continueAt;
        }
      }
    });
  }
}

function toRow({ timestamp, type, data }: EventDto) {
  return { timestamp, type, data: printableJson(data as Row) };
}

function inALine(event: EventDto): string {
  const { timestamp, type, data } = toRow(event);
  return `${timestamp}  ${type.padEnd(17)}  ${data}`;
}
