import { Inject } from '@nestjs/common';
import { Command, Option } from 'nest-commander';
import {
  type BadLines,
  CatalogueRefusedError,
  CatalogueRepeatedError,
  type CatalogueSize,
  ExportCatalogue,
  ImportCatalogue,
  type ImportResult,
} from '../modules/catalogue';
import { printable } from '../runtime/messages';
import { ConfirmedCommand, type ConfirmedOptions, ResultCommand } from './command/command';
import { CommandFailure } from './command/failure';
import { openInput, ReaderGoneError, readInput, writeFile } from './command/files';
import { confirm, interruptible } from './command/operator';
import { type OutputOptions, counted, formatOf, printDone } from './output/output';
import { withProgress } from './output/progress';

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
  protected override readonly explanation = `
The file has one JSON object on each line, categories first. Its kind is category or pet; a type is what events have.
The ids of categories matter only within the file:
  {"kind":"category","id":1,"name":"Dogs"}
  {"kind":"pet","name":"Rex","categoryId":1,"status":"available","quantity":3}
`;
  @Inject() private readonly catalogue!: ImportCatalogue;

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
    const row = { categories, pets, repeated, skipped: result.badLines.count };
    printDone(sentenceOf(result, options.dryRun), row, options);
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
    const title = dryRun ? 'Checking' : 'Importing';
    try {
      return await interruptible('nothing was imported', (signal) =>
        withProgress({ title, noun: 'lines', stream: process.stderr }, async (show) => {
          await this.store.open();
          const step = { done: 0, total: input.bytes, count: 0 };
          const update = (change: Partial<typeof step>) => show(Object.assign(step, change));
          const source = readInput(input, signal, (done, total = input.bytes) => update({ done, total }));
          const onLines = (count: number) => update({ count });
          return this.catalogue.run(source, {
            intoExisting,
            skipInvalid,
            dryRun,
            mayRepeat,
            signal,
            onLines,
          });
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

function sentenceOf({ categories, pets, repeated, badLines }: ImportResult, dryRun?: boolean): string {
  const size = `${counted(categories, 'category', 'categories')} and ${counted(pets, 'pet', 'pets')}`;
  const skipped = badLines.count > 0 ? `; ${counted(badLines.count, 'line was', 'lines were')} skipped` : '';
  const again = repeated > 0 ? `; ${counted(repeated, 'name is', 'names are')} already in the store` : '';
  return dryRun
    ? `Would import ${size}${again}${skipped}. Nothing was changed.`
    : `Imported ${size}${skipped}.`;
}

function reportBadLines({ count, first }: BadLines): void {
  const linesOf = new Map<string, number[]>();
  first.forEach(({ line, problem }) => linesOf.set(problem, [...(linesOf.get(problem) ?? []), line]));
  for (const [problem, lines] of linesOf) {
    process.stderr.write(
      `${lines.length === 1 ? 'line' : 'lines'} ${lines.join(', ')}: ${printable(problem)}\n`,
    );
  }
  if (count > first.length) {
    process.stderr.write(`… and ${counted(count - first.length, 'more bad line', 'more bad lines')}\n`);
  }
}

@Command({
  name: 'export',
  arguments: '[file]',
  argsDescription: { file: 'file to write; standard output if omitted or -' },
  description: 'write a snapshot of all categories and pets with their stock, as NDJSON',
})
export class ExportCommand extends ResultCommand {
  protected override readonly examples = ['export catalogue.ndjson', 'export | gzip > catalogue.ndjson.gz'];
  @Inject() private readonly catalogue!: ExportCatalogue;

  @Option({ flags: '--force', description: 'overwrite an existing file' })
  parseForce(): boolean {
    return true;
  }

  async run([file = '-']: string[], options: OutputOptions & { force?: boolean }): Promise<void> {
    const toStandardOutput = file === '-';
    const outcome = toStandardOutput ? 'the output is not complete' : `${file} was not written`;
    // No progress bar if the catalogue goes to the same terminal.
    const stream = toStandardOutput && process.stdout.isTTY ? undefined : process.stderr;
    const write = (to: (text: string) => Promise<void>) =>
      interruptible(outcome, async (signal) => {
        await this.store.open();
        return withProgress({ title: 'Exporting', noun: 'lines', stream }, (show) => {
          const onLines = (count: number, total: number) => show({ done: count, total, count });
          return this.catalogue.run(to, { signal, onLines });
        });
      });
    try {
      report(await writeFile(file, { overwrite: options.force ?? false }, write), toStandardOutput, options);
    } catch (error) {
      if (!(error instanceof ReaderGoneError)) {
        throw error;
      }
    }
  }
}

function report(size: CatalogueSize, toStandardOutput: boolean, options: OutputOptions): void {
  const { categories, pets } = size;
  const sentence = `Exported ${counted(categories, 'category', 'categories')} and ${counted(pets, 'pet', 'pets')}.`;
  if (toStandardOutput) {
    // Standard output is for the catalogue.
    process.stderr.write(`${formatOf(options) === 'json' ? JSON.stringify(size) : sentence}\n`);
  } else {
    printDone(sentence, { ...size }, options);
  }
}
