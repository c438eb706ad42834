import { DataSource, type DataSourceOptions, type MigrationInterface, type QueryRunner } from 'typeorm';
import type { PoolClient } from 'pg';
import { MigrationLockError, migrate } from '#libs/database';
import { administrationOptions } from '../../../../src/store/data-source';
import { type TestDatabase, createTestDatabase } from '../../../support/test-database';

const PATIENT = { lockMs: 100, attempts: 600 };
const IMPATIENT = { lockMs: 100, attempts: 1 };

let database: TestDatabase;
let other: PoolClient;
let lines: string[];

beforeEach(async () => {
  database = await createTestDatabase('template1');
  await database.pool.query('CREATE TABLE toys (id bigint PRIMARY KEY)');
  other = await database.pool.connect();
  await other.query('BEGIN');
  lines = [];
});
afterEach(async () => {
  other.release();
  await database.drop();
});

class AddName1795000000000 implements MigrationInterface {
  up = (runner: QueryRunner): Promise<void> => runner.query('ALTER TABLE toys ADD name text');
  down = (): Promise<void> => Promise.resolve();
}

class Broken1795000000001 extends AddName1795000000000 {
  override up = (runner: QueryRunner): Promise<void> => runner.query('ALTER TABLE nothing ADD name text');
}

/** @param onLine is called when the migration has reported for which lock it waits */
async function run(
  migrations: (new () => MigrationInterface)[],
  patience = PATIENT,
  onLine: () => unknown = () => undefined,
): Promise<string[]> {
  const dataSource = await new DataSource({
    ...administrationOptions(database.url),
    migrations,
  } as DataSourceOptions).initialize();
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

const WAITING = /^The migrations wait for a lock on a table: .+\.$/;

describe('a migration of a table that is in use', () => {
  beforeEach(() => other.query('SELECT FROM toys'));

  it('reports that it waits, once, lets requests pass meanwhile, and runs when that has ended', async () => {
    const read = () => database.pool.query('SELECT FROM toys');
    const ran = await run([AddName1795000000000], PATIENT, () => read().then(() => other.query('COMMIT')));
    expect(ran).toEqual(['AddName1795000000000']);
    expect(lines).toEqual([expect.stringMatching(WAITING)]);
  });

  it('gives up, and leaves nothing behind', async () => {
    const failure = run([AddName1795000000000], IMPATIENT);
    await expect(failure).rejects.toThrow(MigrationLockError);
    await expect(failure).rejects.toThrow(/^The migrations did not get a lock on a table: .+\.$/);
    await other.query('COMMIT');
    expect(await run([AddName1795000000000])).toEqual(['AddName1795000000000']);
  });
});

it('all that start at once end with each migration run once', async () => {
  await other.query('COMMIT');
  const names = await Promise.all(Array.from({ length: 4 }, () => run([AddName1795000000000])));
  expect(names.flat()).toEqual(['AddName1795000000000']);
});

it('migrations run all or not at all', async () => {
  await other.query('COMMIT');
  await expect(run([AddName1795000000000, Broken1795000000001])).rejects.toThrow(/"nothing" does not exist/);
  expect(await run([AddName1795000000000])).toEqual(['AddName1795000000000']);
});
