import { Option, SubCommand } from 'nest-commander';
import { PETSTORE } from '../../runtime/messages';
import { ResultCommand } from '../command/command';
import { UsageError } from '../command/command-failure';
import { interruptible } from '../command/interruption';
import {
  type OutputOptions,
  counted,
  inUnits,
  isForPeople,
  print,
  printMany,
  printOne,
} from '../output/output';
import { backUp, copy, restore } from './transfer';

@SubCommand({
  name: 'backup',
  arguments: '<file>',
  argsDescription: { file: 'file to write; - for standard output' },
  description: 'write a backup of the store, while the service runs',
})
export class BackupCommand extends ResultCommand {
  protected override readonly examples = [
    'db backup store.tar.gz',
    "db backup - | ssh host 'cat > store.tar.gz'",
  ];

  @Option({ flags: '--force', description: 'overwrite an existing file' })
  parseForce(): boolean {
    return true;
  }

  async run(
    [file = '']: string[],
    { force = false, ...options }: OutputOptions & { force?: boolean },
  ): Promise<void> {
    const toStandardOutput = file === '-';
    if (toStandardOutput && process.stdout.isTTY) {
      throw new UsageError(
        'a backup cannot be written to a terminal: name a file, or pipe it to another program.',
      );
    }
    const outcome = toStandardOutput ? 'the backup is not complete' : `${file} was not written`;
    const { header, rows, bytes } = await interruptible(outcome, (signal) =>
      backUp(file, { force, outcome, signal }),
    );
    const { startedAt, postgres } = header;
    const text = `Backed up ${counted(rows, 'row', 'rows')}, as ${inUnits(bytes)}: everything up to ${startedAt}.`;
    if (toStandardOutput) {
      process.stderr.write(`${text}\n`);
    } else if (isForPeople(options)) {
      print(text);
    } else {
      await printOne({ file, bytes, rows, postgres, startedAt }, options);
    }
  }
}

@SubCommand({
  name: 'restore',
  arguments: '<file>',
  argsDescription: { file: 'a backup; - for standard input' },
  description: 'load a backup, all or nothing; the service must be stopped',
})
export class RestoreCommand extends ResultCommand {
  protected override readonly examples = ['db restore store.tar.gz', 'db restore --yes store.tar.gz'];

  @Option({ flags: '-y, --yes', description: 'replace the store that is there, without asking' })
  parseYes(): boolean {
    return true;
  }

  async run([file = '']: string[], { yes, ...options }: OutputOptions & { yes?: boolean }): Promise<void> {
    const { header, rows, location, needsKey } = await interruptible('nothing was changed', (signal) =>
      restore(file, { yes, signal }),
    );
    const { startedAt, madeBy } = header;
    if (isForPeople(options)) {
      print(
        `Restored ${counted(rows, 'row', 'rows')} to ${location}: the store as it was at ${startedAt} or moments later. Start it: ${PETSTORE} serve`,
      );
    } else {
      await printOne({ location, startedAt, madeBy, rows }, options);
    }
    if (needsKey) {
      askForKey('webhook.key of the backup');
    }
  }
}

@SubCommand({
  name: 'copy',
  description: 'copy everything to an empty PostgreSQL, all or nothing; stop the service first',
})
export class CopyCommand extends ResultCommand {
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
    const { header, rows, keyFile } = await interruptible('the target was not changed', (signal) =>
      copy(to, signal),
    );
    const tables = header.tables.map((table) => ({ table: table.name, rows: table.rows }));
    await printMany(tables, options, 'There are no tables.');
    if (isForPeople(options)) {
      print(
        `\nCopied ${counted(rows, 'row', 'rows')}; the counts agree. Set DATABASE_URL to the new database.`,
      );
    }
    if (keyFile !== undefined) {
      askForKey(keyFile);
    }
  }
}

/** On standard error: standard output may be for a program. */
function askForKey(file: string): void {
  process.stderr.write(
    `The secrets of webhooks are encrypted with the key in ${file}: set WEBHOOK_KEY to its text.\n`,
  );
}

export const TRANSFER_COMMANDS = [BackupCommand, RestoreCommand, CopyCommand];
