import { Inject } from '@nestjs/common';
import { Command } from 'nest-commander';
import {
  argumentOrOption,
  type Commander,
  DAYS_OPTION,
  type OutputOptions,
  StoreCommand,
  printMany,
} from '#libs/command-line';
import { ClientsService } from '../auth';
import { DeprecatedCalls } from './deprecated-calls';

@Command({
  name: 'deprecations',
  description: 'show who still calls deprecated operations, how often, and when last',
})
export class DeprecationsCommand extends StoreCommand {
  readonly examples = ['deprecations', 'deprecations acme --days 7'];
  @Inject() private readonly clients!: ClientsService;
  @Inject() private readonly calls!: DeprecatedCalls;

  declare(command: Commander): void {
    argumentOrOption(command, '--client <client>', 'only calls of the client of this name or id');
    command.option(...DAYS_OPTION, 90);
  }

  protected async execute(
    reference: string | undefined,
    options: OutputOptions & { days: number },
  ): Promise<void> {
    const client = reference === undefined ? undefined : (await this.clients.get(reference)).name;
    const uses = await this.calls.report(options.days, client);
    printMany(uses, options, 'Nobody has called a deprecated operation.');
  }
}
