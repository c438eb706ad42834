import { Option, SubCommand } from 'nest-commander';
import type { DataSource } from 'typeorm';
import { complaint } from '../../runtime/messages';
import { ReportingCommand } from '../command/command';
import { CommandFailure, UsageError } from '../command/command-failure';
import { interruptible } from '../command/interruption';
import { type OutputOptions, counted, isForPeople, print, printMany } from '../output/output';

const WARNING = complaint(
  'warning: the service runs on this store; what it writes from now on is not copied.',
);

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
    const tables = await interruptible('the target is empty', (signal) => copyStore(to, signal));
    await printMany(tables, options, 'There are no tables.');
    if (isForPeople(options)) {
      const rows = tables.reduce((sum, table) => sum + table.rows, 0);
      print(
        `\nCopied ${counted(rows, 'row', 'rows')}; the counts agree. Set DATABASE_URL to the new database.`,
      );
    }
  }
}

/** A backup and a restore at once. */
async function copyStore(to: string, signal: AbortSignal): Promise<{ table: string; rows: number }[]> {
  const [{ ArchiveReader, loadArchive, writeArchive }, { withProgress }, { withDatabase }, transfer] =
    await Promise.all([
      import('#libs/database'),
      import('../output/progress.js'),
      import('../command/administration.js'),
      import('./transfer.js'),
    ]);
  const { VERSION } = await import('../../runtime/version.js');
  const { assertSuitableTarget, explained, isServiceRunning, messageOf, withConnection } = transfer;
  const connectTarget = <Result>(work: (target: DataSource) => Promise<Result>) =>
    withConnection(to, work, (error) => {
      throw new CommandFailure(`the database of --to cannot be used: ${messageOf(error)}.`);
    });
  const place = { title: 'Copying', unit: 'rows', stream: process.stderr } as const;
  return withDatabase((url) =>
    withConnection(url, (source) =>
      connectTarget(async (target) => {
        if (await isServiceRunning(source)) {
          process.stderr.write(WARNING);
        }
        return explained('the copy failed, and the target was not changed', signal, () =>
          withProgress(place, (show) =>
            writeArchive(source, { madeBy: `petstore ${VERSION}`, signal }, async (archive, { tables }) => {
              await loadArchive(target, await ArchiveReader.open(archive), {
                assertSuitable: assertSuitableTarget,
                signal,
                onRows: (done, total) => show({ done, total, lines: done }),
              });
              return tables.map(({ name, rows }) => ({ table: name, rows }));
            }),
          ),
        );
      }),
    ),
  );
}
