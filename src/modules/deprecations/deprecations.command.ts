import { Inject } from '@nestjs/common';
import { Command } from 'nest-commander';
import { type Commander, DAYS_OPTION, type OutputOptions, StoreCommand, printMany } from '#libs/command-line';
import { ClientsService } from '../auth';
import { DeprecatedCalls } from './deprecated-calls';

@Command({
  name: 'deprecations',
  description: 'show who still calls deprecated operations, how often, and when last',
})
export class DeprecationsCommand extends StoreCommand {
  readonly examples = ['deprecations', 'deprecations --days 7 --client acme'];
  @Inject() private readonly clients!: ClientsService;
  @Inject() private readonly calls!: DeprecatedCalls;

  declare(command: Commander): void {
    command.option(...DAYS_OPTION, 90).option('--client <name>', 'only calls of this client');
  }

  protected async execute(options: OutputOptions & { days: number; client?: string }): Promise<void> {
    if (options.client !== undefined) {
      await this.clients.getByName(options.client);
    }
    const uses = await this.calls.report(options.days, options.client);
    printMany(uses, options, 'Nobody has called a deprecated operation.');
  }
}
