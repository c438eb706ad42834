import { Inject } from '@nestjs/common';
import { Command } from 'nest-commander';
import { CatalogueFormat, type CatalogueSize } from './catalogue-format';
import { ExportCatalogue } from './export-catalogue';
import { ImportCatalogue, type ImportProgress, ImportStoppedError } from './import-catalogue';
import { failureOf } from '../../runtime/failures';
import { PETSTORE, printable } from '../../runtime/messages';
import { type Commander, type ConfirmedOptions, ResultCommand } from '../../cli/command/command';
import { interruptible } from '../../cli/command/ending';
import { CommandFailure } from '../../cli/command/failure';
import { openInput, readInput, writeFile } from '../../cli/command/files';
import { confirm, withProgress } from '../../cli/command/operator';
import { wholeNumber } from '../../cli/command/option';
import { type OutputOptions, counted, formatOf, printDone } from '../../cli/command/output';

interface ImportOptions extends ConfirmedOptions {
  from?: number;
}

@Command({
  name: 'import',
  arguments: '[file]',
  argsDescription: { file: 'NDJSON in the format of export; standard input if omitted or -' },
  description: 'import a catalogue from a file, as requests would create it',
})
export class ImportCommand extends ResultCommand {
  protected override readonly examples = [
    'import catalogue.ndjson',
    'import catalogue.ndjson --from 30001',
    'import < catalogue.ndjson',
  ];
  protected override readonly asks = true;
  @Inject() private readonly catalogue!: ImportCatalogue;
  @Inject() private readonly format!: CatalogueFormat;

  protected override explanation(): string {
    const lines = this.format.examples().map((line) => `  ${line}\n`);
    return `
The file has one JSON object on each line, a category before its pets. Ids matter only within the file:
${lines.join('')}Lines before the first bad one are imported. --from goes on at a line; categories above it are found by name.
`;
  }

  override accept(commander: Commander): void {
    const from = 'the lines before this one are in the store already';
    commander.option('--from <line>', from, wholeNumber(1, Number.MAX_SAFE_INTEGER));
  }

  async work([file = '-']: string[], options: ImportOptions): Promise<void> {
    let progress: ImportProgress;
    try {
      progress = await this.importFrom(file, options);
    } catch (error) {
      throw error instanceof ImportStoppedError ? stopped(error, file) : error;
    }
    const { created, badLines, nextLine } = progress;
    if (badLines > 0) {
      const problems = problemsOf(progress);
      if (formatOf(options) !== 'json') {
        problems.splice(0).forEach((problem) => process.stderr.write(`${printable(problem)}\n`));
      }
      const bad = counted(badLines, 'line is', 'lines are');
      const done = `${bad} bad. Imported ${created.inWords()}. ${howToGoOn(file, nextLine)}`;
      throw new CommandFailure([...problems, done].join(' '), { code: 'bad_lines' });
    }
    printDone(`Imported ${created.inWords()}.`, created.counts, options);
  }

  private async importFrom(file: string, { from: fromLine, yes }: ImportOptions): Promise<ImportProgress> {
    const input = await openInput(file);
    return interruptible('the import has ended early', (signal) =>
      withProgress({ title: 'Importing', noun: 'lines', stream: process.stderr }, async (show) => {
        await this.store.open();
        const step = { done: 0, total: input.bytes, count: 0 };
        const update = (change: Partial<typeof step>) => show(Object.assign(step, change));
        const source = readInput(input, signal, (done, total = input.bytes) => update({ done, total }));
        return this.catalogue.run(source, {
          fromLine,
          signal,
          onLines: (count) => update({ count }),
          onRepeated: (names, example) => confirm(questionOf(names, example), yes),
        });
      }),
    );
  }
}

function questionOf(names: number, example: string): string {
  const which = names === 1 ? ':' : ', such as';
  const subject = counted(names, 'name is', 'names are');
  return `${subject} already in the store${which} ${printable(example)}. Import anyway?`;
}

function howToGoOn(file: string, nextLine: number): string {
  return `To go on: ${PETSTORE} import ${file} --from ${nextLine}`;
}

/** Why an import has ended, what it has done, and how to go on. */
function stopped({ progress, cause }: ImportStoppedError, file: string): CommandFailure {
  const { code, message } = cause instanceof CommandFailure ? cause : failureOf(cause);
  const exitCode = cause instanceof CommandFailure ? cause.exitCode : 1;
  const { created, nextLine } = progress;
  const done =
    created.total > 0
      ? `Imported ${created.inWords()}. ${howToGoOn(file, nextLine)}`
      : 'Nothing was imported.';
  return new CommandFailure(`${message} ${done}`, { code, exitCode });
}

function problemsOf({ badLines, problems }: ImportProgress): string[] {
  const more = counted(badLines - problems.length, 'more bad line', 'more bad lines');
  return [
    ...problems.map(({ line, problem }) => `line ${line}: ${problem}`),
    ...(badLines > problems.length ? [`… and ${more}.`] : []),
  ];
}

@Command({
  name: 'export',
  arguments: '[file]',
  argsDescription: { file: 'file to write; standard output if omitted or -' },
  description: 'write the whole catalogue with its inventory, as NDJSON',
})
export class ExportCommand extends ResultCommand {
  protected override readonly examples = ['export catalogue.ndjson', 'export | gzip > catalogue.ndjson.gz'];
  @Inject() private readonly catalogue!: ExportCatalogue;

  override accept(commander: Commander): void {
    commander.option('--force', 'overwrite an existing file');
  }

  async work([file = '-']: string[], options: OutputOptions & { force?: boolean }): Promise<void> {
    const toStandardOutput = file === '-';
    const toTerminal = toStandardOutput && process.stdout.isTTY;
    const outcome = toStandardOutput ? 'the output is not complete' : `${file} was not written`;
    // No progress bar if the catalogue goes to the same terminal.
    const stream = toTerminal ? undefined : process.stderr;
    const work = (write: (text: string) => Promise<void>) =>
      interruptible(outcome, async (signal) => {
        await this.store.open();
        // What JSON leaves as it is and a terminal would interpret.
        const shown = (text: string) => write(toTerminal ? text.replace(/[^\n]+/g, printable) : text);
        return withProgress({ title: 'Exporting', noun: 'lines', stream }, (show) => {
          const onLines = (count: number) => show({ done: 0, total: undefined, count });
          return this.catalogue.run(shown, { signal, onLines });
        });
      });
    report(await writeFile(file, options.force ?? false, work), toStandardOutput, options);
  }
}

function report(size: CatalogueSize, toStandardOutput: boolean, options: OutputOptions): void {
  const sentence = `Exported ${size.inWords()}.`;
  if (toStandardOutput) {
    // Standard output is for the catalogue.
    process.stderr.write(`${formatOf(options) === 'json' ? JSON.stringify(size.counts) : sentence}\n`);
  } else {
    printDone(sentence, size.counts, options);
  }
}
