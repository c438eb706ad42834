import { MAX_PAGE_SIZE, type Page, cursorAfter } from '#libs/http';
import { ListingCommand, ResultCommand } from '../command/command';
import { UsageError } from '../command/failure';
import { Limit, Value, identifier } from '../command/option';
import { type Row, counted, isForPeople, printMany, printOne, sorted } from '../output/output';

export interface PageRequest {
  limit: number;
  cursor?: string;
}

/** The most rows that a command keeps in memory. */
const MAX_ROWS = 100_000;

/** A command that lists entries of the store in ascending id, or sorts all that match. */
export abstract class StoreListCommand extends ListingCommand {
  protected abstract readonly whenEmpty: string;

  @Limit('rows', MAX_ROWS, 50) limit!: number;
  @Value('--after <id>', 'only entries with a higher id', identifier) after?: number;

  protected abstract read(page: PageRequest): Promise<Page<object>>;

  async run(): Promise<void> {
    const { limit, sort } = this;
    await this.store.open();
    const { entries, lastId } = await this.pagesUpTo(sort === undefined ? limit : MAX_ROWS);
    if (sort !== undefined && lastId !== null) {
      const most = counted(MAX_ROWS, 'row', 'rows');
      throw new UsageError(`--sort takes up to ${most}, and more match. Add a filter, or use export.`);
    }
    const rows = sorted(entries, sort).slice(0, limit);
    await printMany(rows, this, this.whenEmpty);
    if (isForPeople(this) && (lastId !== null || rows.length < entries.length)) {
      const next = lastId === null ? '' : `--after ${lastId} continues, `;
      process.stderr.write(`\nThere are more: ${next}--limit shows more at once.\n`);
    }
  }

  private async pagesUpTo(limit: number): Promise<Page<Row>> {
    const entries: Row[] = [];
    let lastId = this.after ?? null;
    do {
      const cursor = lastId === null ? undefined : cursorAfter(lastId);
      const page = await this.read({ limit: Math.min(MAX_PAGE_SIZE, limit - entries.length), cursor });
      entries.push(...page.entries.map((entry) => ({ ...entry })));
      lastId = page.lastId;
    } while (lastId !== null && entries.length < limit);
    return { entries, lastId };
  }
}

/** A command that shows one entry of the store. */
export abstract class StoreShowCommand extends ResultCommand {
  protected abstract readonly entries: { get(id: number): Promise<object> };

  async run([text = '']: string[]): Promise<void> {
    const id = identifier(text);
    await this.store.open();
    await printOne({ ...(await this.entries.get(id)) }, this);
  }
}
