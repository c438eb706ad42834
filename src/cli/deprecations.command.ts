import { Command, Option } from 'nest-commander';
import { ClientsService } from '../modules/auth';
import { DeprecationReport, type DeprecatedUse } from '../modules/deprecations';
import { ListingCommand } from './command/command';
import { type OutputOptions, type Row, printMany } from './output/output';
import { wholeNumber } from './command/parse';

interface ReportOptions extends OutputOptions {
  days: string;
  client?: string;
}

@Command({
  name: 'deprecations',
  description: 'show who still calls deprecated operations, how often, and when last',
})
export class DeprecationsCommand extends ListingCommand {
  protected override readonly examples = ['deprecations', 'deprecations --days 7 --client acme'];

  constructor(
    private readonly clients: ClientsService,
    private readonly report: DeprecationReport,
  ) {
    super();
  }

  @Option({ flags: '--days <days>', description: 'number of UTC days, 1 to 90', defaultValue: '90' })
  parseDays(text: string): string {
    return text;
  }

  @Option({ flags: '--client <name>', description: 'only calls of this client' })
  parseClient(text: string): string {
    return text;
  }

  async run(_arguments: string[], { days, client, ...output }: ReportOptions): Promise<void> {
    const lastDays = wholeNumber('--days', days, { min: 1, max: 90 });
    await this.store.open();
    if (client !== undefined) {
      await this.clients.named(client);
    }
    const uses = await this.report.of(lastDays, client);
    const rows = uses.length === 0 ? [] : describe(uses, await sunsets());
    await printMany(rows, output, 'Nobody has called a deprecated operation.');
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
