import { Inject } from '@nestjs/common';
import { Command, Option, SubCommand } from 'nest-commander';
import { ClientsService } from '../modules/auth';
import { DeprecationReport } from '../modules/deprecations';
import { QuotasService } from '../modules/quotas';
import { PETSTORE } from '../runtime/messages';
import { CommandGroup, ConfirmedCommand, type ConfirmedOptions, ResultCommand } from './command/command';
import { confirm } from './command/operator';
import { days, wholeNumber } from './command/option';
import { type OutputOptions, isForPeople, print, printDone, printMany, printOne } from './command/output';

const DAYS = { flags: '--days <days>', description: 'number of UTC days, 1 to 90' };

@SubCommand({
  name: 'show',
  arguments: '<client>',
  description: 'show what a client has used and has left, and the bans of its keys; changes nothing',
})
export class ShowQuotaCommand extends ResultCommand {
  protected override readonly examples = ['quotas show acme', 'quotas show acme --json'];
  @Inject() private readonly quotas!: QuotasService;

  async run([name = '']: string[], options: OutputOptions): Promise<void> {
    await this.store.open();
    const overview = await this.quotas.overviewOf(name);
    if (!isForPeople(options)) {
      printOne({ ...overview }, options);
      return;
    }
    const { client, plan, minute, day, keys } = overview;
    printOne({ client, plan }, options);
    print('');
    const windows = [
      { window: 'minute', ...minute },
      { window: 'day', ...day },
    ];
    printMany(windows, options, '');
    print('');
    printMany(keys, options, `No keys yet: ${PETSTORE} keys issue --client ${name}`);
    print('\nWhat the running servers have saved, up to one second ago.');
  }
}

@SubCommand({
  name: 'reset',
  arguments: '<client>',
  description:
    "restart a client's windows; applies on every instance within a second. Bans stay: see keys unban",
})
export class ResetQuotaCommand extends ConfirmedCommand {
  protected override readonly examples = ['quotas reset acme', 'quotas reset acme --yes'];
  @Inject() private readonly clients!: ClientsService;
  @Inject() private readonly quotas!: QuotasService;

  async run([name = '']: string[], options: ConfirmedOptions): Promise<void> {
    await this.store.open();
    const client = await this.clients.named(name);
    await confirm(`Give ${name} its full limits again?`, options.yes);
    await this.quotas.reset(client.id);
    const row = { id: client.id, client: client.name, reset: true };
    printDone(`The windows of ${client.name} have been reset.`, row, options);
  }
}

@SubCommand({ name: 'top', description: 'show the clients with the most requests, up to one second ago' })
export class TopQuotasCommand extends ResultCommand {
  protected override readonly examples = ['quotas top', 'quotas top --limit 3 --days 30'];
  @Inject() private readonly quotas!: QuotasService;

  @Option({ flags: '--limit <clients>', description: 'maximum number of clients', defaultValue: 10 })
  parseLimit(text: string): number {
    return wholeNumber(1, 1_000)(text);
  }

  @Option({ ...DAYS, defaultValue: 1 })
  parseDays(text: string): number {
    return days(text);
  }

  async run(_inputs: string[], options: OutputOptions & { limit: number; days: number }): Promise<void> {
    await this.store.open();
    const clients = await this.quotas.top(options.limit, options.days);
    printMany(clients, options, 'There are no requests yet.');
  }
}

@Command({
  name: 'quotas',
  description: 'show and reset what clients have used',
  subCommands: [ShowQuotaCommand, TopQuotasCommand, ResetQuotaCommand],
})
export class QuotasCommand extends CommandGroup {}

@Command({
  name: 'deprecations',
  description: 'show who still calls deprecated operations, how often, and when last',
})
export class DeprecationsCommand extends ResultCommand {
  protected override readonly examples = ['deprecations', 'deprecations --days 7 --client acme'];
  @Inject() private readonly clients!: ClientsService;
  @Inject() private readonly report!: DeprecationReport;

  @Option({ ...DAYS, defaultValue: 90 })
  parseDays(text: string): number {
    return days(text);
  }

  @Option({ flags: '--client <name>', description: 'only calls of this client' })
  parseClient(text: string): string {
    return text;
  }

  async run(_inputs: string[], options: OutputOptions & { days: number; client?: string }): Promise<void> {
    await this.store.open();
    if (options.client !== undefined) {
      await this.clients.named(options.client);
    }
    const uses = await this.report.of(options.days, options.client);
    const rows = uses.map(({ lastCallAt, ...use }) => ({ ...use, lastCallAt: lastCallAt.toISOString() }));
    printMany(rows, options, 'Nobody has called a deprecated operation.');
  }
}
