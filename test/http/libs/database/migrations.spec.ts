import { DataSource, type MigrationInterface } from 'typeorm';
import type { PoolClient } from 'pg';
import { MigrationLockError, migrate } from '#libs/database';
import { sqlMigration } from '../../../../src/migrations/sql-migration';
import { dataSourceOptions } from '../../../../src/runtime/data-source';
import { type TestDatabase, createTestDatabase } from '../../../support/test-database';

const TURN = { turnMs: 100 };
const PATIENT = { ...TURN, totalMs: 60_000 };
/** Long enough that a busy machine sees who holds the lock while it is waited for. */
const IMPATIENT = { turnMs: 2_000, totalMs: 0 };

let database: TestDatabase;
let other: PoolClient;
let lines: string[];

beforeEach(async () => {
  database = await createTestDatabase('template1');
  await database.pool.query('CREATE TABLE toys (id bigint PRIMARY KEY)');
  other = await database.pool.connect();
  await other.query(`SET application_name = 'pg_dump'; BEGIN`);
  lines = [];
});
afterEach(async () => {
  other.release();
  await database.drop();
});

const AddName = sqlMigration('AddName1795000000000', ['ALTER TABLE toys ADD name text'], []);
const IndexName = sqlMigration(
  'IndexName1795000000001',
  ['CREATE INDEX CONCURRENTLY toys_by_name ON toys (name)'],
  [],
  false,
);

/** @param onLine called when the migration has reported what it waits for */
async function run(
  migrations: (new () => MigrationInterface)[],
  patience = PATIENT,
  onLine: () => unknown = () => undefined,
): Promise<string[]> {
  const dataSource = new DataSource({ ...dataSourceOptions(database.url, 2), entities: [], migrations });
  await dataSource.initialize();
  try {
    const report = (line: string) => {
      lines.push(line);
      void onLine();
    };
    return await migrate(dataSource, report, patience);
  } finally {
    await dataSource.destroy();
  }
}

describe('a migration of a table that is in use', () => {
  beforeEach(() => other.query('SELECT FROM toys'));

  it('reports who uses it, and runs when that has ended', async () => {
    const named =
      /^The migration AddName1795000000000 waits for .+ by pid \d+ \(pg_dump, idle in transaction\)/;
    const ended = () => named.test(lines.at(-1)!) && other.query('COMMIT');
    expect(await run([AddName], PATIENT, ended)).toEqual(['AddName1795000000000']);
    expect(lines.at(-1)).toMatch(named);
  });

  it('gives up, naming it, and leaves nothing behind', async () => {
    const failure = run([AddName], IMPATIENT);
    await expect(failure).rejects.toThrow(MigrationLockError);
    await expect(failure).rejects.toThrow(/^Gave up: the migration AddName.+ by pid \d+ \(pg_dump/);
    await other.query('COMMIT');
    expect(await run([AddName])).toEqual(['AddName1795000000000']);
  });

  it('lets requests pass between its turns', async () => {
    const read = () => database.pool.query('SELECT FROM toys');
    let reads: Promise<unknown> | undefined;
    await run([AddName], PATIENT, () => {
      reads ??= read().then(() => other.query('COMMIT'));
    });
    await reads;
  });
});

it('a migration without a transaction creates its index while rows are written', async () => {
  expect(await run([AddName, IndexName], PATIENT, () => other.query('COMMIT'))).toHaveLength(2);
  const { rows } = await database.pool.query(
    `SELECT indisvalid FROM pg_index WHERE indexrelid = 'toys_by_name'::regclass`,
  );
  expect(rows).toEqual([{ indisvalid: true }]);
});

describe('while another instance migrates', () => {
  beforeEach(() => other.query('SELECT pg_advisory_xact_lock(1835624306)'));

  it('reports who holds the lock, and goes on when it is free', async () => {
    expect(await run([AddName], PATIENT, () => other.query('COMMIT'))).toHaveLength(1);
    expect(lines).toEqual([
      expect.stringMatching(
        /^Waiting for the migration lock, held by pid \d+ \(pg_dump, idle in transaction\)\.$/,
      ),
    ]);
  });

  it('gives up in the end', async () => {
    await expect(run([AddName], IMPATIENT)).rejects.toThrow(
      /^Gave up waiting for the migration lock, held by pid/,
    );
  });
});
