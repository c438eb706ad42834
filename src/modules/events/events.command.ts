import { setTimeout as pause } from 'node:timers/promises';
import { Inject } from '@nestjs/common';
import { Command } from 'nest-commander';
import {
  BaseCommand,
  type Commander,
  type OutputOptions,
  StoreOpener,
  identifier,
  print,
  printMany,
  commaSeparatedOption,
  untilInterrupted,
  wholeNumber,
} from '#libs/command-line';
import { SERVICE_CALLER_ID } from '#libs/database';
import { formatError, printableJson } from '#libs/messages';
import { EVENT_TYPES, type EventType } from './event.entity';
import { type EventFilter, EventReader, MAX_SEARCHED, type StoredEvent } from './event-reader';
import { MAX_READ, POLL_MS } from './event-tail';
import type { EventDto } from './events.dto';

const LOST =
  'warning: the database has lost events that were shown (a standby took over, or a backup was restored). Events of the last minute before may follow again.';

const NEWEST = `the newest ${MAX_SEARCHED.toLocaleString('en-US')} events`;

const TYPES = 'only events of these types, several with commas';

interface EventsOptions extends OutputOptions {
  types?: EventType[];
  pet?: number;
  limit: number;
  follow?: boolean;
}

@Command({ name: 'events', description: 'show what happened in the store, newest last' })
export class EventsCommand extends BaseCommand {
  readonly examples = [
    'events',
    'events --types order.placed --limit 1000',
    'events --pet 1 --follow --json',
  ];
  @Inject() private readonly store!: StoreOpener;
  @Inject() private readonly events!: EventReader;

  declare(command: Commander): void {
    command
      .addOption(commaSeparatedOption(command, '--types <types>', TYPES, EVENT_TYPES))
      .option('--pet <id>', 'only events about this pet, its inventory and its orders', identifier)
      .option(
        '--limit <events>',
        `maximum number of events to show; only ${NEWEST} are searched`,
        wholeNumber(1, 10_000),
        20,
      )
      .option('--follow', 'keep printing new events until Ctrl-C; --json prints one per line');
  }

  protected async execute(options: EventsOptions): Promise<void> {
    const filter = { type: options.types, petId: options.pet };
    if (options.follow) {
      return this.follow(filter, options);
    }
    await this.store.open();
    const events = (await this.events.newest(filter, options.limit)).map(({ event }) => event);
    const rows = events.map(({ timestamp, type, data, ...rest }) =>
      options.json ? { ...rest, timestamp, type, data } : { time: new Date(timestamp), type, data },
    );
    const isFiltered = filter.type !== undefined || filter.petId !== undefined;
    printMany(rows, options, isFiltered ? `None of ${NEWEST} matches.` : 'There are no events.');
  }

  private follow(filter: EventFilter, { limit, json }: EventsOptions): Promise<void> {
    const report = ({ event }: StoredEvent) => print(json ? printableJson(event) : eventLine(event));
    return untilInterrupted(async (signal) => {
      await this.store.open();
      let reached = await this.events.lastPosition(SERVICE_CALLER_ID);
      const earlier = await this.events.newest(filter, limit);
      earlier.filter((event) => event.position <= reached.position).forEach(report);
      if (!json) {
        process.stderr.write('Waiting for new events until Ctrl-C.\n');
      }
      for (;;) {
        signal.throwIfAborted();
        const page = await this.events.pageAfter(reached, filter, MAX_READ, SERVICE_CALLER_ID);
        reached = page.reached;
        if (page.isLost) {
          process.stderr.write(formatError(LOST));
          continue;
        }
        page.events.forEach(report);
        if (!page.hasMore) {
          await pause(POLL_MS, undefined, { signal }).catch(() => undefined);
        }
      }
    }, 'no more events are shown');
  }
}

function eventLine({ timestamp, type, data }: EventDto): string {
  return `${timestamp}  ${type.padEnd(17)}  ${printableJson(data)}`;
}
