import { Inject } from '@nestjs/common';
import { Command, SubCommand } from 'nest-commander';
import { ClientsService } from '../auth';
import { QuotasService } from './quotas.service';
import { PETSTORE } from '../../runtime/messages';
import { CommandGroup, type Commander, type ConfirmedOptions, StoreCommand } from '../../cli/command/command';
import { confirm } from '../../cli/command/operator';
import { DAYS_OPTION, wholeNumber } from '../../cli/command/option';
import { type OutputOptions, print, printDone, printMany, printOne } from '../../cli/command/output';

abstract class QuotaCommand extends StoreCommand {
  @Inject() protected readonly clients!: ClientsService;
  @Inject() protected readonly quotas!: QuotasService;
}

@SubCommand({
  name: 'show',
  arguments: '<client>',
  description: 'show what a client has used and has left, and the bans of its keys; changes nothing',
})
export class ShowQuotaCommand extends QuotaCommand {
  protected override readonly examples = ['quotas show acme', 'quotas show acme --json'];

  protected async execute([name]: [string], options: OutputOptions): Promise<void> {
    const overview = await this.quotas.overviewOf(name);
    if (options.json) {
      printOne(overview, options);
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
export class ResetQuotaCommand extends QuotaCommand {
  protected override readonly examples = ['quotas reset acme', 'quotas reset acme --yes'];
  protected override readonly takesYes = true;

  protected async execute([name]: [string], options: ConfirmedOptions): Promise<void> {
    const client = await this.clients.named(name);
    await confirm(`Give ${name} its full limits again?`, options.yes);
    await this.quotas.reset(client.id);
    const row = { id: client.id, client: client.name, reset: true };
    printDone(`The windows of ${client.name} have been reset.`, row, options);
  }
}

@SubCommand({ name: 'top', description: 'show the clients with the most requests, up to one second ago' })
export class TopQuotasCommand extends QuotaCommand {
  protected override readonly examples = ['quotas top', 'quotas top --limit 3 --days 30'];

  protected override declare(command: Commander): void {
    command
      .option('--limit <clients>', 'maximum number of clients', wholeNumber(1, 1_000), 10)
      .option(...DAYS_OPTION, 1);
  }

  protected async execute(
    _inputs: [],
    options: OutputOptions & { limit: number; days: number },
  ): Promise<void> {
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
