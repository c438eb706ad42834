import { Inject } from '@nestjs/common';
import { Command } from 'nest-commander';
import {
  type BadLines,
  CatalogueRefusedError,
  CatalogueRepeatedError,
  type CatalogueSize,
  ExportCatalogue,
  ImportCatalogue,
  type ImportResult,
} from '../../modules/catalogue';
import { printable } from '../../runtime/messages';
import { ConfirmedCommand, ResultCommand } from '../command/command';
import { CommandFailure } from '../command/failure';
import { openInput, ReaderGoneError, readInput, writeFile } from '../command/files';
import { confirm, interruptible } from '../command/operator';
import { Flag } from '../command/option';
import { counted, formatOf, printDone } from '../output/output';
import { withProgress } from '../output/progress';

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

  @Flag('--into-existing', 'add pets to existing categories; the file contains only pets')
  intoExisting?: boolean;

  @Flag('--skip-invalid', 'skip bad lines and import the others') skipInvalid?: boolean;
  @Flag('--dry-run', 'check everything and import nothing') dryRun?: boolean;

  async run([file = '-']: string[]): Promise<void> {
    const result = await this.importOnceOrAgain(file);
    reportBadLines(result.badLines);
    const { categories, pets, repeated } = result;
    const row = { categories, pets, repeated, skipped: result.badLines.count };
    await printDone(this.sentenceOf(result), row, this);
  }

  /** Asks before a file is imported a second time. Impossible with standard input, which cannot be read twice. */
  private async importOnceOrAgain(file: string): Promise<ImportResult> {
    try {
      return await this.importFrom(file, this.yes ?? false);
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
      return this.importFrom(file, true);
    }
  }

  private async importFrom(file: string, mayRepeat: boolean): Promise<ImportResult> {
    const { intoExisting, skipInvalid, dryRun } = this;
    const input = await openInput(file);
    const title = dryRun ? 'Checking' : 'Importing';
    try {
      return await interruptible('nothing was imported', (signal) =>
        withProgress({ title, noun: 'lines', stream: process.stderr }, async (show) => {
          await this.store.open(this.reason);
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

  private sentenceOf({ categories, pets, repeated, badLines }: ImportResult): string {
    const size = `${counted(categories, 'category', 'categories')} and ${counted(pets, 'pet', 'pets')}`;
    const skipped =
      badLines.count > 0 ? `; ${counted(badLines.count, 'line was', 'lines were')} skipped` : '';
    const again = repeated > 0 ? `; ${counted(repeated, 'name is', 'names are')} already in the store` : '';
    return this.dryRun
      ? `Would import ${size}${again}${skipped}. Nothing was changed.`
      : `Imported ${size}${skipped}.`;
  }
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

  @Flag('--force', 'overwrite an existing file') force = false;

  async run([file = '-']: string[]): Promise<void> {
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
      await this.report(await writeFile(file, { overwrite: this.force }, write), toStandardOutput);
    } catch (error) {
      if (!(error instanceof ReaderGoneError)) {
        throw error;
      }
    }
  }

  private async report(size: CatalogueSize, toStandardOutput: boolean): Promise<void> {
    const { categories, pets } = size;
    const sentence = `Exported ${counted(categories, 'category', 'categories')} and ${counted(pets, 'pet', 'pets')}.`;
    if (toStandardOutput) {
      // Standard output is for the catalogue.
      process.stderr.write(`${formatOf(this) === 'json' ? JSON.stringify(size) : sentence}\n`);
    } else {
      await printDone(sentence, { ...size }, this);
    }
  }
}
