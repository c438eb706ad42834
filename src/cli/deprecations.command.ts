import { Inject } from '@nestjs/common';
import { Command } from 'nest-commander';
import { ClientsService } from '../modules/auth';
import { DeprecationReport } from '../modules/deprecations';
import { ListingCommand } from './command/command';
import { Days, Value, anyText } from './command/option';
import { printMany } from './output/output';

@Command({
  name: 'deprecations',
  description: 'show who still calls deprecated operations, how often, and when last',
})
export class DeprecationsCommand extends ListingCommand {
  protected override readonly examples = ['deprecations', 'deprecations --days 7 --client acme'];
  @Inject() private readonly clients!: ClientsService;
  @Inject() private readonly report!: DeprecationReport;

  @Days(90) days!: number;
  @Value('--client <name>', 'only calls of this client', anyText) client?: string;

  async run(): Promise<void> {
    await this.store.open();
    if (this.client !== undefined) {
      await this.clients.named(this.client);
    }
    const uses = await this.report.of(this.days, this.client);
    const rows = uses.map(({ lastCallAt, ...use }) => ({ ...use, lastCallAt: lastCallAt.toISOString() }));
    await printMany(rows, this, 'Nobody has called a deprecated operation.');
  }
}
