import { Inject } from '@nestjs/common';
import { Command, SubCommand } from 'nest-commander';
import { ClientsService } from '../../modules/auth';
import { QuotasService } from '../../modules/quotas';
import { PETSTORE } from '../../runtime/messages';
import { CommandGroup, ConfirmedCommand, ListingCommand, ResultCommand } from '../command/command';
import { confirm } from '../command/operator';
import { Days, Limit } from '../command/option';
import { counted, isForPeople, print, printDone, printMany, printOne } from '../output/output';

@SubCommand({
  name: 'show',
  arguments: '<client>',
  description: 'show what a client has used and has left, and the bans of its keys; changes nothing',
})
export class ShowQuotaCommand extends ResultCommand {
  protected override readonly examples = ['quotas show acme', 'quotas show acme --json'];
  @Inject() private readonly quotas!: QuotasService;

  async run([name = '']: string[]): Promise<void> {
    await this.store.open();
    const overview = await this.quotas.overviewOf(name);
    if (!isForPeople(this)) {
      await printOne({ ...overview }, this);
      return;
    }
    const { client, plan, minute, day, keys } = overview;
    await printOne({ client, plan }, this);
    print('');
    const windows = [
      { window: 'minute', ...minute },
      { window: 'day', ...day },
    ];
    await printMany(windows, this, '');
    print('');
    await printMany(keys, this, `No keys yet: ${PETSTORE} keys issue ${name}`);
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
  protected override readonly examples = [
    'quotas reset acme',
    'quotas reset acme --yes --reason "load test agreed"',
  ];
  @Inject() private readonly clients!: ClientsService;
  @Inject() private readonly quotas!: QuotasService;

  async run([name = '']: string[]): Promise<void> {
    await this.store.open(this.reason);
    const client = await this.clients.named(name);
    await confirm(`Give ${name} its full limits again?`, this.yes);
    await this.quotas.reset(client.id);
    const row = { id: client.id, client: client.name, reset: true };
    await printDone(`The windows of ${client.name} have been reset.`, row, this);
  }
}

@SubCommand({ name: 'top', description: 'show the clients with the most requests, up to one second ago' })
export class TopQuotasCommand extends ListingCommand {
  protected override readonly examples = [
    'quotas top',
    'quotas top --limit 3 --days 30',
    'quotas top --sort -usedPercent',
  ];
  @Inject() private readonly quotas!: QuotasService;

  @Limit('clients', 1_000, 10) limit!: number;
  @Days(1) days!: number;

  async run(): Promise<void> {
    await this.store.open();
    await printMany(await this.quotas.top(this.limit, this.days), this, 'There are no requests yet.');
  }
}

/** The length of the longest bar. */
const BAR = 40;

@SubCommand({
  name: 'usage',
  arguments: '<client>',
  description: 'show the requests of a client by UTC day, as a chart',
})
export class UsageCommand extends ResultCommand {
  protected override readonly examples = ['quotas usage acme', 'quotas usage acme --days 90 --output csv'];
  @Inject() private readonly clients!: ClientsService;
  @Inject() private readonly quotas!: QuotasService;

  @Days(30) days!: number;

  async run([name = '']: string[]): Promise<void> {
    await this.store.open();
    const { id } = await this.clients.named(name);
    const usage = await this.quotas.usageOf(id, this.days);
    const most = Math.max(1, ...usage.map((day) => day.requests));
    const barOf = (count: number) => ({ '': '█'.repeat(Math.ceil((count / most) * BAR)) });
    const rows = usage.map((day) => ({ ...day, ...(isForPeople(this) ? barOf(day.requests) : {}) }));
    await printMany(rows, this, '');
    const total = usage.reduce((sum, { requests }) => sum + requests, 0);
    if (isForPeople(this)) {
      print(`\n${counted(total, 'request', 'requests')} in ${counted(this.days, 'day', 'days')}`);
    }
  }
}

@Command({
  name: 'quotas',
  description: 'show and reset what clients have used',
  subCommands: [ShowQuotaCommand, TopQuotasCommand, UsageCommand, ResetQuotaCommand],
})
export class QuotasCommand extends CommandGroup {}
