import { Command, Option } from 'nest-commander';
import type { EventDto, EventType } from '../../modules/events';
import { ReportingCommand, administer } from '../command/command';
import { UsageError } from '../command/command-failure';
import { followEvents } from './follow-events';
import { type OutputOptions, type Row, isForPeople, print, printMany } from '../output/output';
import { identifier, wholeNumber } from '../command/parse';
import { printableJson } from '../../runtime/messages';

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
    const { EVENT_TYPES, EventReader, toEventDto } = await import('../../modules/events/index.js');
    const unknown = type?.find((one) => !(EVENT_TYPES as readonly string[]).includes(one));
    if (unknown !== undefined) {
      throw new UsageError(`--type must be one of ${EVENT_TYPES.join(', ')}, not ${unknown}.`);
    }
    const filter = { type: type as EventType[] | undefined, petId: pet };
    const most = wholeNumber('--limit', limit, { min: 1, max: 10_000 });
    if (!follow) {
      const events = await administer((services) => services.get(EventReader).newest(filter, most));
      const rows = events.map(toEventDto).map(isForPeople(options) ? forPeople : forPrograms);
      await printMany(rows, options, 'There are no events.');
      return;
    }
    await followEvents(filter, most, (event) =>
      print(isForPeople(options) ? inALine(toRow(event)) : printableJson({ ...event })),
    );
  }
}

function forPrograms(event: EventDto): Row {
  return { ...event };
}

function forPeople(event: EventDto): Row {
  return { ...toRow(event) };
}

function toRow({ timestamp, type, data }: EventDto) {
  return { timestamp, type, data: printableJson(data as Row) };
}

function inALine({ timestamp, type, data }: ReturnType<typeof toRow>): string {
  return `${timestamp}  ${type.padEnd(17)}  ${data}`;
}
