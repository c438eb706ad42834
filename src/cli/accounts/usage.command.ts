import { Option, SubCommand } from 'nest-commander';
import { terminalOf } from '../../runtime/terminal';
import { barLines } from '../output/bar-chart';
import { ReportingCommand, administerAccounts } from '../command/command';
import { type OutputOptions, counted, isForPeople, print, printMany } from '../output/output';
import { wholeNumber } from '../command/parse';

const WIDTH = 80;

@SubCommand({
  name: 'usage',
  arguments: '<client>',
  description: 'show the requests of a client by UTC day, as a chart',
})
export class UsageCommand extends ReportingCommand {
  protected override readonly examples = ['quotas usage acme', 'quotas usage acme --days 90 --output csv'];

  @Option({ flags: '--days <days>', description: 'number of UTC days, 1 to 90', defaultValue: '30' })
  parseDays(text: string): string {
    return text;
  }

  async run([name = '']: string[], options: OutputOptions & { days: string }): Promise<void> {
    const lastDays = wholeNumber('--days', options.days, { min: 1, max: 90 });
    const [{ ClientsService }, { UsageService }] = await Promise.all([
      import('../../modules/auth/administration.js'),
      import('../../modules/quotas/administration.js'),
    ]);
    const days = await administerAccounts(async (services) => {
      const { id } = await services.get(ClientsService).named(name);
      return services.get(UsageService).of(id, lastDays);
    });
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
