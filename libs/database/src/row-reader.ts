import type { EntityTarget } from 'typeorm';
import { Coalescer } from './coalescing/coalescer';
import type { Database } from './database';

/** Rows that one statement reads. */
const MAX_BATCH = 500;

/**
 * Reads rows by id, outside of transactions. Requests that arrive while a statement runs share the next one, so nobody gets
 * a row that was read before the request.
 */
export class RowReader<Row extends object> {
  private readonly reads = new Coalescer<number, Row>({
    maxBatch: MAX_BATCH,
    loadMany: (ids) => this.load(ids),
  });

  constructor(
    private readonly database: Database,
    private readonly entity: EntityTarget<Row>,
  ) {}

  /** The row, or null when there is none. */
  find(id: number): Promise<Row | null> {
    return this.reads.load(id);
  }

  private async load(ids: number[]): Promise<Map<number, Row>> {
    const table = this.database.table(this.entity);
    const rows = await this.database.rows(this.entity, { ...table.load(), values: [ids] });
    return new Map(rows.map((row) => [table.idOf(row), row]));
  }
}
