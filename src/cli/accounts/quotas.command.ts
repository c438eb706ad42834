import { setTimeout as sleep } from 'node:timers/promises';
import { Command, Option, SubCommand } from 'nest-commander';
import { ClientsService } from '../../modules/auth';
import {
  type ClientOverview,
  QuotaOverview,
  QuotaResets,
  UsageRanking,
  UsageService,
} from '../../modules/quotas';
import { PETSTORE, printable, terminalOf } from '../../runtime/messages';
import {
  CommandGroup,
  ConfirmedCommand,
  type ConfirmedOptions,
  ListingCommand,
  ReportingCommand,
} from '../command/command';
import { CommandFailure, UsageError } from '../command/command-failure';
import { confirm } from '../command/confirm';
import { interruptible } from '../command/interruption';
import { wholeNumber } from '../command/parse';
import { barLines } from '../output/bar-chart';
import { type OutputOptions, counted, isForPeople, print, printMany, printOne } from '../output/output';

/** Explains where the numbers come from. */
const NOTES: Readonly<Record<ClientOverview['redis'], string>> = {
  off:
    'The minute is what the running server has counted; of several without REDIS_URL, the one that counted most. ' +
    'The day may be one second behind.',
  answered: 'Read from Redis, which all instances share.',
  silent: 'Redis does not answer, so the current minute is unknown. The day may be one second behind.',
};

@SubCommand({
  name: 'show',
  arguments: '<client>',
  description: 'show what a client has used and has left, and the bans of its keys; changes nothing',
})
export class ShowQuotaCommand extends ReportingCommand {
  protected override readonly examples = ['quotas show acme', 'quotas show acme --json'];

  constructor(private readonly overview: QuotaOverview) {
    super();
  }

  async run([name = '']: string[], options: OutputOptions): Promise<void> {
    await this.store.open();
    const overview = await this.overview.of(name);
    if (!isForPeople(options) || options.columns !== undefined) {
      await printOne({ ...overview }, options);
      return;
    }
    const { client, plan, minute, day, keys, redis } = overview;
    const unknown = minute.used === null ? 'not known' : null;
    await printOne({ client, plan }, options);
    print('');
    await printMany(
      [
        { window: 'minute', limit: minute.limit, ...orElse(minute, unknown) },
        { window: 'day', ...day },
      ],
      options,
      '',
    );
    print('');
    await printMany(keys, options, `No keys yet: ${PETSTORE} keys issue --client ${name}`);
    print(`\n${NOTES[redis]}`);
  }
}

/** Tells an unknown value (`unknown`) from a window that has not started (null). */
function orElse({ used, remaining, resetAt }: ClientOverview['minute'], unknown: string | null) {
  return { used: used ?? unknown, remaining: remaining ?? unknown, resetAt: resetAt ?? unknown };
}

@SubCommand({
  name: 'reset',
  arguments: '<client>',
  description:
    "restart a client's windows; applies on every instance within a second. Bans stay: see keys unban",
})
export class ResetQuotaCommand extends ConfirmedCommand {
  protected override readonly examples = [
    'quotas reset acme',
    'quotas reset acme --yes --reason "load test agreed"',
  ];

  constructor(
    private readonly clients: ClientsService,
    private readonly resets: QuotaResets,
  ) {
    super();
  }

  async run([name = '']: string[], options: ConfirmedOptions): Promise<void> {
    await this.store.open(options.reason);
    const client = await this.clients.named(name);
    await confirm(`Give ${name} its full limits again?`, options.yes);
    await this.resets.reset(client.id);
    if (isForPeople(options)) {
      print(printable(`The windows of ${client.name} have been reset.`));
    } else {
      await printOne({ id: client.id, client: client.name, reset: true }, options);
    }
  }
}

interface TopOptions extends OutputOptions {
  limit: string;
  days: string;
  watch?: boolean;
}

const EVERY_MS = 2_000;
/** Clears the screen and keeps the scrollback. */
const CLEAR = '\u001b[H\u001b[2J';

@SubCommand({ name: 'top', description: 'show the clients with the most requests, up to one second ago' })
export class TopQuotasCommand extends ListingCommand {
  protected override readonly examples = [
    'quotas top',
    'quotas top --limit 3 --days 30',
    'quotas top --watch --sort -usedPercent',
  ];

  constructor(private readonly ranking: UsageRanking) {
    super();
  }

  @Option({ flags: '--limit <clients>', description: 'number of clients', defaultValue: '10' })
  parseLimit(text: string): string {
    return text;
  }

  @Option({ flags: '--days <days>', description: 'number of UTC days, 1 to 90', defaultValue: '1' })
  parseDays(text: string): string {
    return text;
  }

  @Option({ flags: '-w, --watch', description: 'refresh every two seconds, until Ctrl-C' })
  parseWatch(): boolean {
    return true;
  }

  async run(_arguments: string[], options: TopOptions): Promise<void> {
    const max = wholeNumber('--limit', options.limit, { min: 1, max: 1_000 });
    const lastDays = wholeNumber('--days', options.days, { min: 1, max: 90 });
    if (options.watch && !process.stdout.isTTY) {
      throw new UsageError('--watch needs a terminal.');
    }
    await this.store.open();
    const show = async () =>
      printMany(await this.ranking.top(max, lastDays), options, 'There are no requests yet.');
    await (options.watch ? watched(show) : show());
  }
}

/** Ctrl-C is the normal end. */
async function watched(show: () => Promise<void>): Promise<void> {
  try {
    await interruptible('nothing was changed', async (signal) => {
      for (;;) {
        process.stdout.write(CLEAR);
        await show();
        print(
          `\n${new Date().toISOString().slice(11, 19)} UTC, updated every two seconds. Press Ctrl-C to stop.`,
        );
        await sleep(EVERY_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
      }
    });
  } catch (error) {
    if (!(error instanceof CommandFailure && error.code === 'interrupted')) {
      throw error;
    }
  }
}

const WIDTH = 80;

@SubCommand({
  name: 'usage',
  arguments: '<client>',
  description: 'show the requests of a client by UTC day, as a chart',
})
export class UsageCommand extends ReportingCommand {
  protected override readonly examples = ['quotas usage acme', 'quotas usage acme --days 90 --output csv'];

  constructor(
    private readonly clients: ClientsService,
    private readonly usage: UsageService,
  ) {
    super();
  }

  @Option({ flags: '--days <days>', description: 'number of UTC days, 1 to 90', defaultValue: '30' })
  parseDays(text: string): string {
    return text;
  }

  async run([name = '']: string[], options: OutputOptions & { days: string }): Promise<void> {
    const lastDays = wholeNumber('--days', options.days, { min: 1, max: 90 });
    await this.store.open();
    const { id } = await this.clients.named(name);
    const days = await this.usage.of(id, lastDays);
    if (!isForPeople(options) || options.columns !== undefined) {
      await printMany(
        days.map((day) => ({ ...day })),
        options,
        '',
      );
      return;
    }
    const { columns = WIDTH } = terminalOf(process.stdout, process.env);
    barLines(
      days.map(({ date, requests }) => [date, requests]),
      Math.min(columns, WIDTH),
    ).forEach(print);
    const total = days.reduce((sum, { requests }) => sum + requests, 0);
    print(`\n${counted(total, 'request', 'requests')} in ${counted(lastDays, 'day', 'days')}`);
  }
}

@Command({
  name: 'quotas',
  description: 'show and reset what clients have used',
  subCommands: [ShowQuotaCommand, TopQuotasCommand, UsageCommand, ResetQuotaCommand],
})
export class QuotasCommand extends CommandGroup {}
