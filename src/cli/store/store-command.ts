import { Option } from 'nest-commander';
import { MAX_PAGE_SIZE, type Page, cursorAfter } from '#libs/http';
import { ListingCommand, ReportingCommand } from '../command/command';
import { UsageError } from '../command/command-failure';
import {
  type OutputOptions,
  type Row,
  counted,
  isForPeople,
  printMany,
  printOne,
  sorted,
} from '../output/output';
import { identifier, wholeNumber } from '../command/parse';

export interface ListOptions extends OutputOptions {
  limit: string;
  after?: number;
}

interface PageRequest {
  limit: number;
  cursor?: string;
}

type ReadPage = (page: PageRequest) => Promise<Page<object>>;

/** The most rows that a command keeps in memory. */
const MAX_ROWS = 100_000;

/** A command that lists entries of the store in ascending id, or sorts all that match. */
export abstract class StoreListCommand extends ListingCommand {
  @Option({ flags: '--limit <rows>', description: 'maximum number of rows', defaultValue: '50' })
  parseLimit(text: string): string {
    return text;
  }

  @Option({ flags: '--after <id>', description: 'only entries with a higher id' })
  parseAfter(text: string): number {
    return identifier('--after', text);
  }

  protected async list(options: ListOptions, read: ReadPage, whenEmpty: string): Promise<void> {
    const { after, sort } = options;
    const limit = wholeNumber('--limit', options.limit, { min: 1, max: MAX_ROWS });
    await this.store.open();
    const { entries, lastId } = await pagesOf(read, sort === undefined ? limit : MAX_ROWS, after);
    if (sort !== undefined && lastId !== null) {
      const most = counted(MAX_ROWS, 'row', 'rows');
      throw new UsageError(`--sort takes up to ${most}, and more match. Add a filter, or use export.`);
    }
    const rows = sorted(entries, sort).slice(0, limit);
    await printMany(rows, options, whenEmpty);
    if (isForPeople(options) && (lastId !== null || rows.length < entries.length)) {
      const next = lastId === null ? '' : `--after ${lastId} continues, `;
      process.stderr.write(`\nThere are more: ${next}--limit shows more at once.\n`);
    }
  }
}

/** A command that shows one entry of the store. */
export abstract class StoreShowCommand extends ReportingCommand {
  protected async show(
    text: string,
    options: OutputOptions,
    read: (id: number) => Promise<object>,
  ): Promise<void> {
    const id = identifier('<id>', text);
    await this.store.open();
    await printOne({ ...(await read(id)) }, options);
  }
}

async function pagesOf(read: ReadPage, limit: number, after: number | undefined): Promise<Page<Row>> {
  const entries: Row[] = [];
  let lastId = after ?? null;
  do {
    const cursor = lastId === null ? undefined : cursorAfter(lastId);
    const page = await read({ limit: Math.min(MAX_PAGE_SIZE, limit - entries.length), cursor });
    entries.push(...page.entries.map((entry) => ({ ...entry })));
    lastId = page.lastId;
  } while (lastId !== null && entries.length < limit);
  return { entries, lastId };
}
