import { Inject } from '@nestjs/common';
import { Command } from 'nest-commander';
import {
  CommandGroup,
  type ConfirmedOptions,
  DAYS_OPTION,
  type OutputOptions,
  Subcommand,
  confirm,
  print,
  printDone,
  printMany,
  printOne,
  wholeNumber,
} from '#libs/command-line';
import { shellWord } from '#libs/messages';
import { PETSTORE } from '../../program';
import { ClientsService } from '../auth';
import { declareClient } from './keys.command';
import { QuotasService } from './quotas.service';

@Command({ name: 'quotas', description: 'show and reset how many requests clients have used' })
export class QuotasCommand extends CommandGroup {
  @Inject() private readonly clients!: ClientsService;
  @Inject() private readonly quotas!: QuotasService;

  @Subcommand({
    description: 'show the used and remaining requests of a client, and the bans of its keys',
    examples: ['quotas show acme', 'quotas show acme --json'],
    declare: declareClient,
  })
  async show(name: string, options: OutputOptions): Promise<void> {
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
    printMany(keys, options, `No keys yet: ${PETSTORE} keys issue ${shellWord(client)}`);
    print('\nThe running instances save these numbers every second.');
  }

  @Subcommand({
    description: 'show the clients with the most requests, without those of the last second',
    examples: ['quotas top', 'quotas top --limit 3 --days 30'],
    declare(command) {
      const limit = wholeNumber(1, 1_000);
      command.option('--limit <clients>', 'maximum number of clients', limit, 10).option(...DAYS_OPTION, 1);
    },
  })
  async top(options: OutputOptions & { limit: number; days: number }): Promise<void> {
    const clients = await this.quotas.busiestClients(options.limit, options.days);
    printMany(clients, options, 'There are no requests yet.');
  }

  @Subcommand({
    description:
      'set the counted requests of a client to 0; applies on every instance within a second. Bans stay: see keys unban',
    examples: ['quotas reset acme', 'quotas reset acme --yes'],
    declare: declareClient,
    takesYes: true,
  })
  async reset(name: string, options: ConfirmedOptions): Promise<void> {
    const client = await this.clients.get(name);
    await confirm(`Set the counted requests of ${client.name} to 0?`, options.yes);
    await this.quotas.reset(client.id);
    const row = { id: client.id, client: client.name, reset: true };
    printDone(`The counted requests of ${client.name} have been set to 0.`, row, options);
  }
}
