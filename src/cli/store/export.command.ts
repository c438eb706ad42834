import { Inject } from '@nestjs/common';
import { Command } from 'nest-commander';
import { type CatalogueSize, ExportCatalogue } from '../../modules/catalogue';
import { ResultCommand } from '../command/command';
import { ReaderGoneError, writeFile } from '../command/files';
import { interruptible } from '../command/operator';
import { Flag } from '../command/option';
import { counted, formatOf, printDone } from '../output/output';
import { withProgress } from '../output/progress';

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
