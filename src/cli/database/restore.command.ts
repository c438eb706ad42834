import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { Option, SubCommand } from 'nest-commander';
import type { ArchiveHeader, ArchiveReader } from '#libs/database';
import type { Settings } from '../../settings';
import { PETSTORE } from '../../runtime/messages';
import type { InputFile } from '../command/input-file';
import { ReportingCommand } from '../command/command';
import { interruptible } from '../command/interruption';
import type { Step } from '../output/progress';
import { type OutputOptions, counted, isForPeople, print, printOne } from '../output/output';

/** Where the store does not keep its key in a file. */
const KEY_NOTE =
  'The secrets of webhooks are encrypted with the key in webhook.key of the backup: set WEBHOOK_KEY to its text.';

@SubCommand({
  name: 'restore',
  arguments: '<file>',
  argsDescription: { file: 'a backup; - for standard input' },
  description: 'load a backup, all or nothing; the service must be stopped',
})
export class RestoreCommand extends ReportingCommand {
  protected override readonly examples = ['db restore store.tar.gz', 'db restore --yes store.tar.gz'];

  @Option({ flags: '-y, --yes', description: 'replace the store that is there, without asking' })
  parseYes(): boolean {
    return true;
  }

  async run([file = '']: string[], { yes, ...options }: OutputOptions & { yes?: boolean }): Promise<void> {
    const { openInput } = await import('../command/input-file.js');
    const input = await openInput(file);
    const { header, location, note } = await interruptible('nothing was changed', (signal) =>
      restoreFrom(input, { yes, signal }),
    );
    const { startedAt, madeBy, tables } = header;
    const rows = tables.reduce((sum, table) => sum + table.rows, 0);
    if (isForPeople(options)) {
      print(
        `Restored ${counted(rows, 'row', 'rows')} to ${location}: the store as it was at ${startedAt} or moments later. Start it: ${PETSTORE} serve`,
      );
    } else {
      await printOne({ location, startedAt, madeBy, rows }, options);
    }
    if (note !== undefined) {
      process.stderr.write(`${note}\n`);
    }
  }
}

interface Circumstances {
  yes: boolean | undefined;
  signal: AbortSignal;
}

interface Restored {
  header: ArchiveHeader;
  location: string;
  /** What is left to do. */
  note: string | undefined;
}

/** Reads the beginning of the archive before it opens, and maybe creates, the database. */
async function restoreFrom(input: InputFile, { yes, signal }: Circumstances): Promise<Restored> {
  const [{ ArchiveReader, assertReadable }, { readInput }, { readSettings }, { explained }] =
    await Promise.all([
      import('#libs/database'),
      import('../command/input-file.js'),
      import('../../settings.js'),
      import('./transfer.js'),
    ]);
  const [{ openDatabase }, { WEBHOOK_KEY_FILE }, { MIGRATIONS }] = await Promise.all([
    import('../../runtime/open-database.js'),
    import('../../runtime/webhook-key.js'),
    import('../../migrations/index.js'),
  ]);
  const settings = readSettings(process.env);
  const source = readInput(input, signal, () => undefined);
  return explained('the restore failed, and nothing was changed', signal, () =>
    pipeline(source, createGunzip(), async (unpacked: AsyncIterable<Buffer>) => {
      const archive = await ArchiveReader.open(unpacked, [WEBHOOK_KEY_FILE]);
      assertReadable(
        archive.header,
        MIGRATIONS.map(({ name }) => name),
      );
      const database = await openDatabase(settings, () => undefined, true);
      try {
        return await restoreInto(database.url, { archive, settings, yes, signal });
      } finally {
        await database.close();
      }
    }),
  );
}

async function restoreInto(
  url: string,
  { archive, settings, yes, signal }: Circumstances & { archive: ArchiveReader; settings: Settings },
): Promise<Restored> {
  const [{ loadArchive, migrationStates }, { withProgress }, { confirm }, transfer, webhookKey] =
    await Promise.all([
      import('#libs/database'),
      import('../output/progress.js'),
      import('../command/confirm.js'),
      import('./transfer.js'),
      import('../../runtime/webhook-key.js'),
    ]);
  const { assertSuitableTarget, locationOf, withConnection } = transfer;
  const { databaseUrl, dataDirectory } = settings;
  const location = databaseUrl === undefined ? dataDirectory : locationOf(databaseUrl);
  const key = archive.attachments[webhookKey.WEBHOOK_KEY_FILE];
  const keepsKeyFile = databaseUrl === undefined && settings.webhookKey === undefined;
  let putKeyBack = () => Promise.resolve();
  const adapt = async () => {
    if (key !== undefined && keepsKeyFile) {
      putKeyBack = await webhookKey.replaceWebhookKey(dataDirectory, key);
    }
  };
  await withConnection(url, async (target) => {
    const replace = (await migrationStates(target)).some(({ state }) => state === 'done');
    if (replace) {
      await confirm(`This replaces the store in ${location}. Continue?`, yes);
    }
    const place = { title: 'Restoring', unit: 'rows', stream: process.stderr } as const;
    const load = (show: (step: Step) => void) => {
      const onRows = (done: number, total: number) => show({ done, total, lines: done });
      const options = { replace, assertSuitable: assertSuitableTarget, beforeCommit: adapt, signal, onRows };
      return loadArchive(target, archive, options);
    };
    await withProgress(place, load).catch(async (error: unknown) => {
      await putKeyBack();
      throw error;
    });
  });
  const needsKey =
    key !== undefined && !keepsKeyFile && settings.webhookKey?.toString('base64') !== key.trim();
  return { header: archive.header, location, note: needsKey ? KEY_NOTE : undefined };
}
