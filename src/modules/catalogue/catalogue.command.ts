import { Inject } from '@nestjs/common';
import { Command } from 'nest-commander';
import {
  type Commander,
  type ConfirmedOptions,
  type OutputOptions,
  StoreCommand,
  confirm,
  interruptible,
  pluralized,
  printDone,
  readInput,
  wholeNumber,
  withProgress,
  writeFile,
} from '#libs/command-line';
import { type Failure, OperatorError, failureOf, printable, printableJson, shellWord } from '#libs/messages';
import { PETSTORE } from '../../program';
import { type CatalogueCounts, exampleLines } from './catalogue-format';
import { ExportCatalogue } from './export-catalogue';
import { ImportCatalogue, type ImportOutcome } from './import-catalogue';

interface ImportCommandOptions extends ConfirmedOptions {
  from?: number;
  check?: boolean;
  run?: string;
}

const IMPORT = 'import a catalogue from a file, as requests would create it';

@Command({
  name: 'import',
  arguments: '[file]',
  argsDescription: { file: 'NDJSON in the format of export; standard input if omitted or -' },
  description: `${IMPORT}

The file has one JSON object on each line, each category above its pets. The store assigns new ids. \
The import stops at the first bad line, and reports the other bad lines. An import that was interrupted continues with \
--from: the pets above that line are skipped, and the categories above it are found in the store by their names. \
With --check, the import only reports the bad lines.`,
})
export class ImportCommand extends StoreCommand {
  readonly examples = [
    'import catalogue.ndjson',
    'import catalogue.ndjson --check',
    'import catalogue.ndjson --from 30001',
    'import < catalogue.ndjson',
  ];
  readonly takesYes = true;
  @Inject() private readonly catalogue!: ImportCatalogue;

  declare(command: Commander): void {
    const from = 'first line to import, because the lines above are in the store already';
    command
      .summary(IMPORT)
      .addHelpText('after', `\nLines of a file:\n  ${exampleLines().join('\n  ')}`)
      .option('--check', 'check all lines against the store, and change nothing')
      .option('--from <line>', from, wholeNumber(1, Number.MAX_SAFE_INTEGER))
      .option('--run <id>', 'the interrupted import that --from continues, as its message names it');
  }

  protected async execute(file = '-', options: ImportCommandOptions): Promise<void> {
    const outcome = await this.importFrom(file, options);
    const { created, error } = outcome;
    const counts = inWords(created);
    if (error !== undefined || outcome.badLines > 0) {
      const { message, code, lines } = error === undefined ? badLinesOf(outcome) : failureOf(error);
      const exitCode = error instanceof OperatorError ? error.exitCode : 1;
      const rest = options.check ? NOTHING : howToContinue(file, outcome);
      throw new OperatorError(`${message} ${rest}`, code, exitCode, lines);
    }
    printDone(
      options.check ? `Checked ${counts}; nothing was imported.` : `Imported ${counts}.`,
      created,
      options,
    );
  }

  private importFrom(
    file: string,
    { from: fromLine, check: checkOnly, yes, run: runId }: ImportCommandOptions,
  ): Promise<ImportOutcome> {
    return interruptible((signal) =>
      withProgress('Importing', 'lines', (bar) => {
        const source = readInput(file, signal, (done, total) => {
          bar.setTotal(total);
          bar.update(done);
        });
        return this.catalogue.importFrom(source, {
          fromLine,
          runId,
          checkOnly,
          signal,
          onLines: (count) => bar.update({ count }),
          async onRepeated(names, example) {
            // Stop the progress bar while `confirm` asks whether to import anyway, because the bar would overwrite this
            // question.
            bar.stop();
            await confirm(questionOf(names, example), yes);
            bar.start(bar.getTotal(), 0, {});
          },
        });
      }),
    );
  }
}

function inWords({ categories, pets }: CatalogueCounts): string {
  return `${pluralized(categories, 'category', 'categories')} and ${pluralized(pets, 'pet', 'pets')}`;
}

function badLinesOf({ badLines, isNdjson, problems }: ImportOutcome): Failure {
  const message = isNdjson
    ? `${pluralized(badLines, 'line is', 'lines are')} bad.`
    : 'The file is not NDJSON: it has no line that is a JSON object.';
  const lines = problems.map(({ line, problem }) => `line ${line}: ${problem}`);
  const more = badLines - problems.length;
  const all = more > 0 ? [...lines, `and ${pluralized(more, 'more line', 'more lines')}`] : lines;
  return { message, code: 'bad_lines', lines: all };
}

const NOTHING = 'Nothing was imported.';

function howToContinue(file: string, { created, nextLine, unknownTo, runId }: ImportOutcome): string {
  if (created.categories + created.pets === 0 && unknownTo === undefined) {
    return NOTHING;
  }
  const [unknown, continued] =
    unknownTo === undefined
      ? ['', '']
      : [
          ` Lines ${nextLine} to ${unknownTo} may be in the store already; within 24 hours, --run writes none of these lines twice.`,
          ` --run ${runId}`,
        ];
  return `Imported ${inWords(created)}.${unknown} To go on: ${PETSTORE} import ${shellWord(file)} --from ${nextLine}${continued}`;
}

function questionOf(names: number, example: string): string {
  const which = names === 1 ? ':' : ', such as';
  const subject = pluralized(names, 'name is', 'names are');
  return `${subject} already in the store${which} ${printable(example)}. Import anyway?`;
}

@Command({
  name: 'export',
  arguments: '[file]',
  argsDescription: { file: 'file to write; standard output if omitted or -' },
  description: 'write the whole catalogue with its inventory, as NDJSON',
})
export class ExportCommand extends StoreCommand {
  readonly examples = ['export catalogue.ndjson', 'export | gzip > catalogue.ndjson.gz'];
  @Inject() private readonly catalogue!: ExportCatalogue;

  declare(command: Commander): void {
    command.option('--force', 'overwrite an existing file');
  }

  protected async execute(file = '-', options: OutputOptions & { force?: boolean }): Promise<void> {
    const toStandardOutput = file === '-';
    const toTerminal = toStandardOutput && process.stdout.isTTY;
    const outcome = toStandardOutput ? 'the output is not complete' : `${file} was not written`;
    const counts: CatalogueCounts = { categories: 0, pets: 0 };
    await writeFile(file, options.force ?? false, (write) =>
      interruptible((signal) => {
        const work = async (show?: (count: number) => void) => {
          for await (const lines of this.catalogue.lines()) {
            signal.throwIfAborted();
            await write(lines.map((line) => `${printableJson(line)}\n`).join(''));
            const pets = lines.filter(({ kind }) => kind === 'pet').length;
            counts.pets += pets;
            counts.categories += lines.length - pets;
            show?.(counts.categories + counts.pets);
          }
        };
        // Show no progress bar if the catalogue itself goes to the terminal, because bar and lines would mix.
        return toTerminal
          ? work()
          : withProgress('Exporting', 'lines', (bar) => work((count) => bar.update({ count })));
      }, outcome),
    );
    const sentence = `Exported ${inWords(counts)}.`;
    if (toStandardOutput) {
      process.stderr.write(`${options.json ? JSON.stringify(counts) : sentence}\n`);
    } else {
      printDone(sentence, counts, options);
    }
  }
}
