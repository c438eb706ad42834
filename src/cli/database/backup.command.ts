import { Option, SubCommand } from 'nest-commander';
import type { BackupManifest } from '#libs/embedded-postgres';
import type { Settings } from '../../settings';
import type { OutputFile } from '../command/output-file';
import { ReportingCommand } from '../command/command';
import { UsageError, CommandFailure } from '../command/command-failure';
import { interruptible } from '../command/interruption';
import { type OutputOptions, counted, isForPeople, print, printOne } from '../output/output';

/** A backup contains everything, including the database password. */
const OWNER_ONLY = 0o600;

@SubCommand({
  name: 'backup',
  arguments: '<file>',
  argsDescription: { file: 'file to write; - for standard output' },
  description: 'write a backup of the embedded database, while the service runs',
})
export class BackupCommand extends ReportingCommand {
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
    const settings = await embeddedSettings(
      'pg_dump -Fc "$DATABASE_URL" > store.dump, or snapshots of its host',
    );
    const toStandardOutput = file === '-';
    if (toStandardOutput && process.stdout.isTTY) {
      throw new UsageError(
        'a backup cannot be written to a terminal: name a file, or pipe it to another program.',
      );
    }
    const { assertEmbedded } = await import('../../runtime/open-database.js');
    assertEmbedded(settings);
    const { ReaderGoneError, openOutput } = await import('../command/output-file.js');
    const output = await openOutput(file, force, OWNER_ONLY);
    const outcome = toStandardOutput ? 'the backup is not complete' : `${file} was not written`;
    try {
      const backup = await interruptible(outcome, (signal) =>
        backUpTo(output, settings.dataDirectory, signal),
      );
      await output.complete();
      await report(backup, { file, options, toStandardOutput });
    } catch (error) {
      await output.abandon();
      throw error instanceof ReaderGoneError
        ? new CommandFailure(`the reader closed the pipe; ${outcome}.`)
        : error;
    }
  }
}

interface Backup {
  manifest: BackupManifest;
  /** Size of the archive. */
  bytes: number;
}

async function backUpTo(output: OutputFile, dataDirectory: string, signal: AbortSignal): Promise<Backup> {
  const [{ backUp }, { withDatabase }, { withProgress }, { VERSION }, { webhookKeyFile }] = await Promise.all(
    [
      import('#libs/embedded-postgres'),
      import('../command/administration.js'),
      import('../output/progress.js'),
      import('../../runtime/version.js'),
      import('../../runtime/webhook-key.js'),
    ],
  );
  // Webhook secrets in the database cannot be decrypted without it.
  const beside = await webhookKeyFile(dataDirectory);
  let bytes = 0;
  const write = async (chunk: Buffer): Promise<void> => {
    await output.write(chunk);
    bytes += chunk.length;
  };
  const place = { title: 'Backing up', unit: 'bytes', stream: process.stderr } as const;
  const manifest = await withProgress(place, (show) =>
    withDatabase((url) => {
      const onProgress = (done: number, total: number) => show({ done, total });
      return backUp({ url, madeBy: `petstore ${VERSION}`, write, beside, signal, onProgress });
    }),
  );
  return { manifest, bytes };
}

async function report(
  { manifest, bytes }: Backup,
  { file, options, toStandardOutput }: { file: string; options: OutputOptions; toStandardOutput: boolean },
): Promise<void> {
  const { startedAt, postgres, files } = manifest;
  const stored = files.reduce((sum, one) => sum + one.bytes, 0);
  const text = `Backed up ${counted(files.length, 'file', 'files')}, ${inUnits(stored)}, as ${inUnits(bytes)}: everything up to ${startedAt}.`;
  if (toStandardOutput) {
    process.stderr.write(`${text}\n`);
  } else if (isForPeople(options)) {
    print(text);
  } else {
    await printOne({ file, bytes, files: files.length, databaseBytes: stored, postgres, startedAt }, options);
  }
}

export function inUnits(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/**
 * The settings; fails if DATABASE_URL is set.
 * @param instead what to use with DATABASE_URL
 */
export async function embeddedSettings(instead: string): Promise<Settings> {
  const { readSettings } = await import('../../settings.js');
  const settings = readSettings(process.env);
  if (settings.databaseUrl !== undefined) {
    throw new CommandFailure(
      `this works on the embedded database only. For the database in DATABASE_URL use ${instead}.`,
    );
  }
  return settings;
}
