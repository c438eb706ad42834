import { Inject } from '@nestjs/common';
import { Command } from 'nest-commander';
import { ClientsService } from '../modules/auth';
import { DeprecationReport, type DeprecatedUse } from '../modules/deprecations';
import { ListingCommand } from './command/command';
import { Days, Value, anyText } from './command/option';
import { type Row, printMany } from './output/output';

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
    const rows = uses.length === 0 ? [] : describe(uses, await sunsets());
    await printMany(rows, this, 'Nobody has called a deprecated operation.');
  }
}

function describe(uses: DeprecatedUse[], sunsetOf: ReadonlyMap<string, string>): Row[] {
  return uses.map(({ lastCallAt, ...use }) => ({
    ...use,
    lastCallAt: lastCallAt.toISOString(),
    // Null for an operation that is no longer in the document.
    sunset: sunsetOf.get(use.operation) ?? null,
  }));
}

/** Sunsets by operationId, from the OpenAPI document. */
async function sunsets(): Promise<Map<string, string>> {
  const { describeInterface } = await import('./describe-interface.js');
  const { paths } = JSON.parse(await describeInterface('json')) as {
    paths: Record<string, Record<string, { operationId?: string; 'x-deprecated-sunset'?: string }>>;
  };
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  return new Map(
    operations.flatMap(({ operationId, 'x-deprecated-sunset': sunset }) =>
      operationId && sunset ? [[operationId, sunset]] : [],
    ),
  );
}
