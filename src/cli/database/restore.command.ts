import { Option, SubCommand } from 'nest-commander';
import type { BackupManifest } from '#libs/embedded-postgres';
import { PETSTORE } from '../../runtime/messages';
import { embeddedSettings, inUnits } from './backup.command';
import type { InputFile } from '../command/input-file';
import { ReportingCommand } from '../command/command';
import { interruptible } from '../command/interruption';
import { type OutputOptions, isForPeople, print, printOne } from '../output/output';

@SubCommand({
  name: 'restore',
  arguments: '<file>',
  argsDescription: { file: 'a backup; - for standard input' },
  description: 'replace the embedded database with a backup; the service must be stopped',
})
export class RestoreCommand extends ReportingCommand {
  protected override readonly examples = ['db restore store.tar.gz', 'db restore --yes store.tar.gz'];

  @Option({ flags: '-y, --yes', description: 'replace the database that is there, without asking' })
  parseYes(): boolean {
    return true;
  }

  async run([file = '']: string[], { yes, ...options }: OutputOptions & { yes?: boolean }): Promise<void> {
    const { dataDirectory } = await embeddedSettings('pg_restore, or snapshots of its host');
    const [{ openInput }, { findEmbedded }, { confirm }] = await Promise.all([
      import('../command/input-file.js'),
      import('../../runtime/open-database.js'),
      import('../command/confirm.js'),
    ]);
    const input = await openInput(file);
    if (findEmbedded({ dataDirectory }) !== undefined) {
      await confirm(`This replaces the database in ${dataDirectory}. Continue?`, yes);
    }
    const { startedAt, madeBy, files } = await interruptible('nothing was changed', (signal) =>
      restoreFrom(input, dataDirectory, signal),
    );
    const bytes = files.reduce((sum, one) => sum + one.bytes, 0);
    if (isForPeople(options)) {
      print(
        `Restored ${inUnits(bytes)} to ${dataDirectory}: the store as it was at ${startedAt} or moments later. Start it: ${PETSTORE} serve`,
      );
    } else {
      await printOne(
        { dataDirectory, startedAt, madeBy, files: files.length, databaseBytes: bytes },
        options,
      );
    }
  }
}

async function restoreFrom(
  input: InputFile,
  dataDirectory: string,
  signal: AbortSignal,
): Promise<BackupManifest> {
  const [{ restoreBackup }, { readInput }, { withProgress }] = await Promise.all([
    import('#libs/embedded-postgres'),
    import('../command/input-file.js'),
    import('../output/progress.js'),
  ]);
  const place = { title: 'Restoring', unit: 'bytes', stream: process.stderr } as const;
  try {
    return await withProgress(place, (show) => {
      const source = readInput(input, signal, (done, total) => show({ done, total: total ?? input.bytes }));
      return restoreBackup({ dataDirectory, source });
    });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}
