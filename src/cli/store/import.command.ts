import { Command, Option } from 'nest-commander';
import {
  type BadLines,
  CatalogueRefusedError,
  CatalogueRepeatedError,
  ImportCatalogue,
  type ImportResult,
} from '../../modules/catalogue';
import { printable } from '../../runtime/messages';
import { ConfirmedCommand, type ConfirmedOptions } from '../command/command';
import { CommandFailure } from '../command/command-failure';
import { confirm } from '../command/confirm';
import { openInput, readInput } from '../command/input-file';
import { interruptible } from '../command/interruption';
import { withProgress } from '../output/progress';
import { counted, isForPeople, print, printOne } from '../output/output';

interface ImportOptions extends ConfirmedOptions {
  intoExisting?: boolean;
  skipInvalid?: boolean;
  dryRun?: boolean;
}

@Command({
  name: 'import',
  arguments: '[file]',
  argsDescription: { file: 'NDJSON in the format of export; standard input if omitted or -' },
  description: 'import categories and pets from a file, all or nothing',
})
export class ImportCommand extends ConfirmedCommand {
  protected override readonly examples = [
    'import catalogue.ndjson',
    'import catalogue.ndjson --dry-run',
    'import --into-existing --skip-invalid < pets.ndjson',
  ];

  constructor(private readonly catalogue: ImportCatalogue) {
    super();
  }

  @Option({
    flags: '--into-existing',
    description: 'add pets to existing categories; the file contains only pets',
  })
  parseIntoExisting(): boolean {
    return true;
  }

  @Option({ flags: '--skip-invalid', description: 'skip bad lines and import the others' })
  parseSkipInvalid(): boolean {
    return true;
  }

  @Option({ flags: '--dry-run', description: 'check everything and import nothing' })
  parseDryRun(): boolean {
    return true;
  }

  async run([file = '-']: string[], options: ImportOptions): Promise<void> {
    const result = await this.importOnceOrAgain(file, options);
    reportBadLines(result.badLines);
    const { categories, pets, repeated } = result;
    if (isForPeople(options)) {
      print(sentenceOf(result, options));
    } else {
      await printOne({ categories, pets, repeated, skipped: result.badLines.count }, options);
    }
  }

  /** Asks before a file is imported a second time. Impossible with standard input, which cannot be read twice. */
  private async importOnceOrAgain(file: string, options: ImportOptions): Promise<ImportResult> {
    try {
      return await this.importFrom(file, options, options.yes ?? false);
    } catch (error) {
      if (!(error instanceof CatalogueRepeatedError)) {
        throw error;
      }
      const names = counted(error.repeated, 'name is', 'names are');
      const which = error.repeated === 1 ? ':' : ', such as';
      await confirm(
        `${names} already in the store${which} ${printable(error.example)}. Import anyway?`,
        false,
      );
      return this.importFrom(file, options, true);
    }
  }

  private async importFrom(file: string, options: ImportOptions, mayRepeat: boolean): Promise<ImportResult> {
    const { intoExisting, skipInvalid, dryRun } = options;
    const input = await openInput(file);
    const place = {
      title: dryRun ? 'Checking' : 'Importing',
      unit: 'bytes',
      stream: process.stderr,
    } as const;
    try {
      return await interruptible('nothing was imported', (signal) =>
        withProgress(place, async (show) => {
          await this.store.open(options.reason);
          const step = { done: 0, total: input.bytes, lines: 0 };
          const update = (change: Partial<typeof step>) => show(Object.assign(step, change));
          const source = readInput(input, signal, (done, total) =>
            update({ done, total: total ?? input.bytes }),
          );
          const onLines = (lines: number) => update({ lines });
          const rules = { intoExisting, skipInvalid, dryRun, mayRepeat };
          return this.catalogue.run(source, { ...rules, signal, onLines });
        }),
      );
    } catch (error) {
      if (!(error instanceof CatalogueRefusedError)) {
        throw error;
      }
      reportBadLines(error.badLines);
      throw new CommandFailure(
        `${counted(error.badLines.count, 'line is', 'lines are')} bad, so nothing was imported (--skip-invalid skips bad lines).`,
        { code: 'bad_lines' },
      );
    }
  }
}

function sentenceOf(
  { categories, pets, repeated, badLines }: ImportResult,
  { dryRun }: ImportOptions,
): string {
  const size = `${counted(categories, 'category', 'categories')} and ${counted(pets, 'pet', 'pets')}`;
  const skipped = badLines.count > 0 ? `; ${counted(badLines.count, 'line was', 'lines were')} skipped` : '';
  const again = repeated > 0 ? `; ${counted(repeated, 'name is', 'names are')} already in the store` : '';
  return dryRun
    ? `Would import ${size}${again}${skipped}. Nothing was changed.`
    : `Imported ${size}${skipped}.`;
}

function reportBadLines({ count, first }: BadLines): void {
  for (const { line, problem } of first) {
    process.stderr.write(`line ${line}: ${printable(problem)}\n`);
  }
  if (count > first.length) {
    process.stderr.write(`… and ${counted(count - first.length, 'more bad line', 'more bad lines')}\n`);
  }
}
