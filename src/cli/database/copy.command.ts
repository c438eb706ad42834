import { Option, SubCommand } from 'nest-commander';
import { ReportingCommand } from '../command/command';
import { UsageError } from '../command/command-failure';
import { interruptible } from '../command/interruption';
import { type OutputOptions, counted, isForPeople, print, printMany } from '../output/output';

@SubCommand({
  name: 'copy',
  description: 'copy everything to an empty PostgreSQL, all or nothing; stop the service first',
})
export class CopyCommand extends ReportingCommand {
  protected override readonly examples = ['db copy --to postgres://petstore@db.example:5432/petstore'];

  @Option({
    flags: '--to <url>',
    description: 'an empty database, postgres://user@host:5432/name; PGPASSWORD may hold the password',
    required: true,
  })
  parseTo(text: string): string {
    if (!/^postgres(ql)?:\/\/./.test(text) || !URL.canParse(text)) {
      // Do not print the value: it may contain a password.
      throw new UsageError('--to takes a URL that starts with postgres:// or postgresql://.');
    }
    return text;
  }

  async run(_arguments: string[], { to, ...options }: OutputOptions & { to: string }): Promise<void> {
    const [{ copyStore }, { withProgress }] = await Promise.all([
      import('./copy-store.js'),
      import('../output/progress.js'),
    ]);
    const place = { title: 'Copying', unit: 'rows', stream: process.stderr } as const;
    const tables = await interruptible('the target is empty', (signal) =>
      withProgress(place, (show) =>
        copyStore(to, { signal, onRows: (done, total) => show({ done, total, lines: done }) }),
      ),
    );
    await printMany(tables, options, 'There are no tables.');
    if (isForPeople(options)) {
      const rows = tables.reduce((sum, table) => sum + table.rows, 0);
      print(
        `\nCopied ${counted(rows, 'row', 'rows')}; the counts agree. Set DATABASE_URL to the new database.`,
      );
    }
  }
}
