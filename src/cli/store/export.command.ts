import { Command, Option } from 'nest-commander';
import { type CatalogueSize, ExportCatalogue } from '../../modules/catalogue';
import { type OutputFile, ReaderGoneError, openOutput } from '../command/output-file';
import { ResultCommand } from '../command/command';
import { interruptible } from '../command/interruption';
import { withProgress } from '../output/progress';
import { type OutputOptions, counted, formatOf, isForPeople, print, printOne } from '../output/output';

@Command({
  name: 'export',
  arguments: '[file]',
  argsDescription: { file: 'file to write; standard output if omitted or -' },
  description: 'write a snapshot of all categories and pets with their stock, as NDJSON',
})
export class ExportCommand extends ResultCommand {
  protected override readonly examples = ['export catalogue.ndjson', 'export | gzip > catalogue.ndjson.gz'];

  constructor(private readonly catalogue: ExportCatalogue) {
    super();
  }

  @Option({ flags: '--force', description: 'overwrite an existing file' })
  parseForce(): boolean {
    return true;
  }

  async run(
    [file = '-']: string[],
    { force = false, ...options }: OutputOptions & { force?: boolean },
  ): Promise<void> {
    const output = await openOutput(file, force);
    const outcome = file === '-' ? 'the output is not complete' : `${file} was not written`;
    try {
      const size = await interruptible(outcome, (signal) => this.exportTo(output, file === '-', signal));
      await output.complete();
      await report(size, options, file === '-');
    } catch (error) {
      await output.abandon();
      if (!(error instanceof ReaderGoneError)) {
        throw error;
      }
    }
  }

  private async exportTo(
    output: OutputFile,
    toStandardOutput: boolean,
    signal: AbortSignal,
  ): Promise<CatalogueSize> {
    await this.store.open();
    // No progress bar if the catalogue goes to the same terminal.
    const stream = toStandardOutput && process.stdout.isTTY ? undefined : process.stderr;
    return withProgress({ title: 'Exporting', unit: 'lines', stream }, (show) =>
      this.catalogue.run((text) => output.write(text), {
        signal,
        onLines: (lines, total) => show({ done: lines, total, lines }),
      }),
    );
  }
}

async function report(size: CatalogueSize, options: OutputOptions, toStandardOutput: boolean): Promise<void> {
  const { categories, pets } = size;
  const sentence = `Exported ${counted(categories, 'category', 'categories')} and ${counted(pets, 'pet', 'pets')}.`;
  if (toStandardOutput) {
    // Standard output is for the catalogue.
    process.stderr.write(`${formatOf(options) === 'json' ? JSON.stringify(size) : sentence}\n`);
  } else if (isForPeople(options)) {
    print(sentence);
  } else {
    await printOne({ ...size }, options);
  }
}
