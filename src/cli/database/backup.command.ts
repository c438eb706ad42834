import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { Option, SubCommand } from 'nest-commander';
import type { ArchiveHeader } from '#libs/database';
import type { OutputFile } from '../command/output-file';
import { ReportingCommand } from '../command/command';
import { UsageError, CommandFailure } from '../command/command-failure';
import { interruptible } from '../command/interruption';
import { type OutputOptions, counted, inUnits, isForPeople, print, printOne } from '../output/output';

/** A backup contains everything, including the key of the webhooks' secrets. */
const OWNER_ONLY = 0o600;
/** Compresses about a quarter as fast as a disk writes; higher levels take several times as long for a few percent. */
const COMPRESSION = 1;

@SubCommand({
  name: 'backup',
  arguments: '<file>',
  argsDescription: { file: 'file to write; - for standard output' },
  description: 'write a backup of the store, while the service runs',
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
    const toStandardOutput = file === '-';
    if (toStandardOutput && process.stdout.isTTY) {
      throw new UsageError(
        'a backup cannot be written to a terminal: name a file, or pipe it to another program.',
      );
    }
    const [{ ReaderGoneError, openOutput }, { withDatabase }, { explained }] = await Promise.all([
      import('../command/output-file.js'),
      import('../command/administration.js'),
      import('./transfer.js'),
    ]);
    const outcome = toStandardOutput ? 'the backup is not complete' : `${file} was not written`;
    try {
      await interruptible(outcome, (signal) =>
        withDatabase(async (url) => {
          const output = await openOutput(file, force, OWNER_ONLY);
          try {
            const backup = await explained(`the backup failed, and ${outcome}`, signal, () =>
              backUpTo(output, url, signal),
            );
            await output.complete();
            await report(backup, { file, options, toStandardOutput });
          } catch (error) {
            await output.abandon();
            throw error;
          }
        }),
      );
    } catch (error) {
      throw error instanceof ReaderGoneError
        ? new CommandFailure(`the reader closed the pipe; ${outcome}.`)
        : error;
    }
  }
}

interface Backup {
  header: ArchiveHeader;
  /** Size of the archive. */
  bytes: number;
}

async function backUpTo(output: OutputFile, url: string, signal: AbortSignal): Promise<Backup> {
  const [{ writeArchive }, { withProgress }, { withConnection }, { VERSION }, { webhookKeyFile }] =
    await Promise.all([
      import('#libs/database'),
      import('../output/progress.js'),
      import('./transfer.js'),
      import('../../runtime/version.js'),
      import('../../runtime/webhook-key.js'),
    ]);
  const { readSettings } = await import('../../settings.js');
  const attachments = await webhookKeyFile(readSettings(process.env));
  let bytes = 0;
  const write = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of chunks) {
      await output.write(chunk);
      bytes += chunk.length;
    }
  };
  const place = { title: 'Backing up', unit: 'rows', stream: process.stderr } as const;
  return withProgress(place, (show) =>
    withConnection(url, (source) => {
      const onRows = (done: number, total: number) => show({ done, total, lines: done });
      const options = { madeBy: `petstore ${VERSION}`, attachments, signal, onRows };
      return writeArchive(source, options, async (archive, header) => {
        await pipeline(archive, createGzip({ level: COMPRESSION }), write, { signal });
        return { header, bytes };
      });
    }),
  );
}

async function report(
  { header: { startedAt, postgres, tables }, bytes }: Backup,
  { file, options, toStandardOutput }: { file: string; options: OutputOptions; toStandardOutput: boolean },
): Promise<void> {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const text = `Backed up ${counted(rows, 'row', 'rows')}, as ${inUnits(bytes)}: everything up to ${startedAt}.`;
  if (toStandardOutput) {
    process.stderr.write(`${text}\n`);
  } else if (isForPeople(options)) {
    print(text);
  } else {
    await printOne({ file, bytes, rows, postgres, startedAt }, options);
  }
}
