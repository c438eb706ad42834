import { Command, Help, Option } from 'nest-commander';
import type { BadLines, ImportResult } from '../modules/catalogue';
import type { CatalogueInput } from './catalogue-input';
import { ReportingCommand, administer, examples } from './command';
import { CommandFailure } from './command-failure';
import { interruptible } from './interruption';
import { counted, print } from './output';
import { printable } from '../runtime/text';

interface ImportFlags {
  intoExisting?: boolean;
  skipInvalid?: boolean;
  json?: boolean;
}

@Command({
  name: 'import',
  arguments: '[file]',
  argsDescription: { file: 'NDJSON in the format of export; standard input if omitted or -' },
  description: 'import categories and pets from a file, all or nothing',
})
export class ImportCommand extends ReportingCommand {
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

  @Help('after')
  examples(): string {
    return examples('import catalogue.ndjson', 'import --into-existing --skip-invalid < pets.ndjson');
  }

  async run([file = '-']: string[], { json, ...flags }: ImportFlags): Promise<void> {
    const { openInput } = await import('./catalogue-input.js');
    const input = await openInput(file);
    const { categories, pets, badLines } = await importFrom(input, flags);
    tell(badLines);
    const skipped = badLines.count;
    if (json) {
      print(JSON.stringify({ categories, pets, skipped }));
    } else {
      const left = skipped > 0 ? `; ${counted(skipped, 'line was', 'lines were')} skipped` : '';
      print(
        `Imported ${counted(categories, 'category', 'categories')} and ${counted(pets, 'pet', 'pets')}${left}.`,
      );
    }
  }
}

async function importFrom(input: CatalogueInput, flags: ImportFlags): Promise<ImportResult> {
  const { CatalogueRefusedError, ImportCatalogue } = await import('../modules/catalogue/index.js');
  const { readInput } = await import('./catalogue-input.js');
  const { withProgress } = await import('./progress.js');
  const place = { title: 'Importing', unit: 'bytes', stream: process.stderr } as const;
  try {
    return await interruptible('nothing was imported', (signal) =>
      withProgress(place, (show) =>
        administer((services) => {
          const step = { done: 0, total: input.bytes, lines: 0 };
          const update = (change: Partial<typeof step>) => show(Object.assign(step, change));
          const source = readInput(input, signal, (done, total) =>
            update({ done, total: total ?? input.bytes }),
          );
          const onLines = (lines: number) => update({ lines });
          return services.get(ImportCatalogue).run(source, { ...flags, signal, onLines });
        }),
      ),
    );
  } catch (error) {
    if (!(error instanceof CatalogueRefusedError)) {
      throw error;
    }
    tell(error.badLines);
    throw new CommandFailure(
      `${counted(error.badLines.count, 'line is', 'lines are')} bad, so nothing was imported (--skip-invalid skips bad lines).`,
    );
  }
}

function tell({ count, first }: BadLines): void {
  for (const { line, problem } of first) {
    process.stderr.write(`line ${line}: ${printable(problem)}\n`);
  }
  if (count > first.length) {
    process.stderr.write(`… and ${counted(count - first.length, 'more bad line', 'more bad lines')}\n`);
  }
}
