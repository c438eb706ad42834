import { Command, Help, Option } from 'nest-commander';
import type { CatalogueSize } from '../modules/catalogue';
import type { CatalogueOutput } from './catalogue-output';
import { ReportingCommand, administer, examples } from './command';
import { interruptible } from './interruption';
import { counted, print } from './output';

@Command({
  name: 'export',
  arguments: '[file]',
  argsDescription: { file: 'file to write; standard output if omitted or -' },
  description: 'write a snapshot of all categories and pets with their stock, as NDJSON',
})
export class ExportCommand extends ReportingCommand {
  @Option({ flags: '--force', description: 'overwrite an existing file' })
  parseForce(): boolean {
    return true;
  }

  @Help('after')
  examples(): string {
    return examples('export catalogue.ndjson', 'export | gzip > catalogue.ndjson.gz');
  }

  async run(
    [file = '-']: string[],
    { force = false, json }: { force?: boolean; json?: boolean },
  ): Promise<void> {
    const { ReaderGoneError, openOutput } = await import('./catalogue-output.js');
    const output = await openOutput(file, force);
    const outcome = file === '-' ? 'the output is not complete' : `${file} was not written`;
    try {
      const size = await interruptible(outcome, (signal) => exportTo(output, file === '-', signal));
      await output.complete();
      const { categories, pets } = size;
      const sentence = `Exported ${counted(categories, 'category', 'categories')} and ${counted(pets, 'pet', 'pets')}.`;
      const report = json ? JSON.stringify(size) : sentence;
      if (file === '-') {
        // On standard output it would be taken for a part of the catalogue.
        process.stderr.write(`${report}\n`);
      } else {
        print(report);
      }
    } catch (error) {
      await output.abandon();
      if (!(error instanceof ReaderGoneError)) {
        throw error;
      }
    }
  }
}

async function exportTo(
  output: CatalogueOutput,
  toStandardOutput: boolean,
  signal: AbortSignal,
): Promise<CatalogueSize> {
  const { ExportCatalogue } = await import('../modules/catalogue/index.js');
  const { withProgress } = await import('./progress.js');
  // The catalogue itself may be going to the same terminal.
  const stream = toStandardOutput && process.stdout.isTTY ? undefined : process.stderr;
  return withProgress({ title: 'Exporting', unit: 'lines', stream }, (show) =>
    administer((services) =>
      services.get(ExportCatalogue).run((text) => output.write(text), {
        signal,
        onLines: (lines, total) => show({ done: lines, total, lines }),
      }),
    ),
  );
}
