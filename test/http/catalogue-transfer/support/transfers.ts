import { Readable } from 'node:stream';
import { DataSource } from 'typeorm';
import { SystemClock } from '#libs/clock';
import { Database } from '#libs/database';
import { AuditTrail } from '../../../../src/modules/audit';
import { AuditRecord } from '../../../../src/modules/audit/audit-entry.entity';
import { ExportCatalogue, ImportCatalogue } from '../../../../src/modules/catalogue';
import { dataSourceOptions } from '../../../../src/runtime/data-source';
import { type TestDatabase, createTestDatabase } from '../../../support/test-database';

type ImportOptions = Parameters<ImportCatalogue['run']>[1];

/** A store of its own, with what moves catalogues in and out. */
export class TransferBench {
  private constructor(
    readonly database: TestDatabase,
    private readonly dataSource: DataSource,
  ) {}

  static async open(): Promise<TransferBench> {
    const database = await createTestDatabase();
    return new TransferBench(
      database,
      await new DataSource({ ...dataSourceOptions(database.url, 2), entities: [AuditRecord] }).initialize(),
    );
  }

  importing(): ImportCatalogue {
    const database = new Database(this.dataSource);
    const trail = new AuditTrail(this.dataSource.getRepository(AuditRecord), new SystemClock(), {
      kind: 'cli',
      name: 'ann@shop',
    });
    return new ImportCatalogue(database, trail);
  }

  /** Imports lines: text as it is, anything else as JSON. */
  async import(lines: unknown[], options?: ImportOptions) {
    const text = lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');
    const source = Readable.from([Buffer.from(text)]);
    const { categories, pets, badLines } = await this.importing().run(source, {
      mayRepeat: true,
      ...options,
    });
    return { categories, pets, skipped: badLines.count };
  }

  /**
   * What an export writes, line by line.
   * @param onWrite done after each part, before more is read
   */
  async export(
    onWrite: () => Promise<unknown> = () => Promise.resolve(),
  ): Promise<Record<string, unknown>[]> {
    const exporting = new ExportCatalogue(new Database(this.dataSource));
    let text = '';
    await exporting.run(async (part) => {
      text += part;
      await onWrite();
    });
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** Pets, categories and stock entries in the tables themselves. */
  async counts(): Promise<{ categories: number; pets: number; stock: number }> {
    const { rows } = await this.database.pool.query<{ categories: number; pets: number; stock: number }>(
      `SELECT (SELECT count(*)::int FROM categories) AS categories, (SELECT count(*)::int FROM pets) AS pets,
              (SELECT count(*)::int FROM inventory) AS stock`,
    );
    return rows[0]!;
  }

  async close(): Promise<void> {
    await this.dataSource.destroy();
    await this.database.drop();
  }
}

export const aCategoryLine = (id: number, name = `Category ${id}`) => ({ kind: 'category', id, name });
export const aPetLine = (name: string, categoryId: number, more: object = {}) => ({
  kind: 'pet',
  name,
  categoryId,
  ...more,
});
