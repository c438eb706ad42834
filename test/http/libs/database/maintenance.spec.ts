import { execFileSync } from 'node:child_process';
import { Logger } from '@nestjs/common';
import { DataSource, type DataSourceOptions, type MigrationInterface, type QueryRunner } from 'typeorm';
import { ManualClock } from '../../../support/manual-clock';
import { Database, type ExpiredRows, Retention, olderThan, copyDatabase } from '#libs/database';
import { type TestDatabase, createTestDatabase, useDatabase } from '../../../support/test-database';
import { until } from '../../../support/eventually';
import { lockWaits, whileHeld } from '../../../support/disturbances';
import { MIGRATIONS, administrationOptions } from '../../../../src/store/data-source';

describe('Retention', () => {
  let dataSource: DataSource;
  afterAll(() => dataSource.destroy());
  const test = useDatabase('template1');
  const clock = new ManualClock();
  const started: Retention[] = [];

  beforeAll(async () => {
    Logger.overrideLogger(false);
    dataSource = await new DataSource({ type: 'postgres', url: test.url, poolSize: 2 }).initialize();
    await test.pool.query('CREATE TABLE things (id int, day date)');
  });
  beforeEach(() => test.pool.query('TRUNCATE things'));
  afterEach(() => Promise.all(started.splice(0).map((retention) => retention.onModuleDestroy())));

  function keeping(options: Partial<ExpiredRows> = {}, everyMs?: number): Retention {
    const rows = { table: 'things', condition: olderThan(3), ...options };
    const retention = new Retention(new Database(dataSource), clock, [rows], everyMs);
    started.push(retention);
    return retention;
  }

  /** Adds rows that have expired. */
  const add = (count: number) =>
    test.pool.query(`INSERT INTO things SELECT id, '2026-01-01' FROM generate_series(1, $1) AS id`, [count]);

  it('deletes everything expired, in as many batches as that takes', async () => {
    await add(4);
    expect(await keeping({ maxRows: 2 }).deleteExpired()).toBe(4);
    await add(5);
    expect(await keeping({ maxRows: 2 }).deleteExpired()).toBe(5);
  });

  it('skips rows that another instance is deleting, without waiting', async () => {
    await add(3);
    await whileHeld(test.pool, 'SELECT FROM things WHERE id = 2 FOR UPDATE', async () => {
      expect(await keeping().deleteExpired()).toBe(2);
    });
    expect(await keeping().deleteExpired()).toBe(1);
  });

  it('a stop waits for the running batch and starts no other', async () => {
    await add(3);
    const { stopped } = await whileHeld(test.pool, 'LOCK TABLE things', async () => {
      const retention = keeping({ maxRows: 1 }, 1);
      retention.onApplicationBootstrap();
      await until(async () => (await lockWaits(test.pool)) === 1);
      return { stopped: retention.onModuleDestroy() };
    });
    await stopped;
    expect((await test.pool.query('SELECT FROM things')).rowCount).toBe(2);
  });
});

describe('Copying:', () => {
  /** A migration of a later release, whose table has everything that makes a copy difficult. */
  class LaterTable1999999999999 implements MigrationInterface {
    readonly name = 'LaterTable1999999999999';

    async up(runner: QueryRunner): Promise<void> {
      await runner.query(`CREATE TABLE a_later_table (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        parent bigint REFERENCES a_later_table (id),
        "Name" text NOT NULL,
        length int GENERATED ALWAYS AS (char_length("Name")) STORED,
        client_id bigint REFERENCES clients (id)
      )`);
      await runner.query(`INSERT INTO a_later_table ("Name") VALUES ('put there by the migration')`);
      await runner.query(`CREATE FUNCTION refuse_rows() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'a trigger ran'; END $$`);
      await runner.query(`CREATE TRIGGER no_rows BEFORE INSERT ON a_later_table
        FOR EACH ROW EXECUTE FUNCTION refuse_rows()`);
    }

    down(): Promise<void> {
      return Promise.resolve();
    }
  }

  /** Texts that the text format of COPY must escape. */
  const DIFFICULT = [
    `tab\there`,
    `line\nfeed`,
    `back\\slash`,
    `\\.`,
    `\\N`,
    `ünïcödé 🐈`,
    `"quoted", with 'comma'`,
  ];

  const FILLING = [
    `INSERT INTO categories (name, description) SELECT name, NULLIF(name, 'back\\slash') FROM unnest($1::text[]) AS name`,
    `INSERT INTO pets (name, category_id, status) SELECT name, 1, 'available' FROM unnest($1::text[]) AS name`,
    `INSERT INTO pets (name, former_category_id, status, deleted_at) VALUES ($1::text[]::text, 7, 'sold', now())`,
    `INSERT INTO inventory SELECT id, 2147483647, 1 FROM pets WHERE $1::text[] IS NOT NULL`,
    `INSERT INTO orders (pet_id, quantity, ship_date) SELECT id, 1, '0001-01-01T00:00:00Z' FROM pets, unnest($1::text[])`,
    `INSERT INTO clients (name, plan) SELECT md5(name), 'free' FROM unnest($1::text[]) AS name`,
    `INSERT INTO api_keys (client_id, digest, last4, scopes, banned_until) SELECT id, name, '1234', $1, 'infinity' FROM clients`,
    `INSERT INTO usage_days SELECT id, date '2026-11-22', 9007199254740991 FROM clients WHERE $1::text[] IS NOT NULL`,
    `INSERT INTO audit_entries (at, actor_kind, actor, action, details)
      SELECT now(), 'cli', name, 'client.created', jsonb_build_object('name', name) FROM unnest($1::text[]) AS name`,
  ];

  let from: DataSource;
  /** A second connection to the source, which writes while the first one is read. */
  let late: DataSource;
  afterAll(() => Promise.all([from.destroy(), late.destroy()]));
  const source = useDatabase();
  let target: TestDatabase;
  let to: DataSource;

  const open = (
    { url }: TestDatabase,
    migrations: (new () => MigrationInterface)[] = [...MIGRATIONS, LaterTable1999999999999],
  ) => new DataSource({ ...administrationOptions(url), migrations } as DataSourceOptions).initialize();

  beforeAll(async () => {
    from = await open(source);
    late = await open(source);
    await from.runMigrations({ transaction: 'each' });
    for (const statement of FILLING) {
      await from.query(statement, [DIFFICULT]);
    }
    await from.query(`ALTER TABLE a_later_table DISABLE TRIGGER USER`);
    // A child comes before its parent, and the ids have a gap.
    await from.query(`INSERT INTO a_later_table (id, parent, "Name", client_id) OVERRIDING SYSTEM VALUE
      VALUES (40, 50, 'child', 1), (50, NULL, 'parent', NULL)`);
    await from.query(`ALTER TABLE a_later_table ENABLE TRIGGER USER`);
  });

  beforeEach(async () => {
    target = await createTestDatabase('template1');
    to = await open(target);
  });
  afterEach(async () => {
    await to.destroy();
    await target.drop();
  });

  async function namesOf(side: DataSource, kind: string): Promise<string[]> {
    const sql = `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = $1 ORDER BY 1`;
    return (await side.query<{ name: string }[]>(sql, [kind])).map(({ name }) => name);
  }

  /** All rows of all tables, the state of all sequences, and the triggers that run. */
  async function contentOf(side: DataSource): Promise<Record<string, unknown>> {
    const content: Record<string, unknown> = {};
    for (const table of await namesOf(side, 'r')) {
      const rows = await side.query<{ row: string }[]>(`SELECT t::text AS row FROM ${table} AS t ORDER BY 1`);
      content[table] = rows.map(({ row }) => row);
    }
    for (const sequence of await namesOf(side, 'S')) {
      content[sequence] = await side.query(`SELECT last_value, is_called FROM ${sequence}`);
    }
    content.triggers = await side.query(
      `SELECT tgrelid::regclass::text AS on, tgname, tgenabled FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1, 2`,
    );
    return content;
  }

  async function expectEmpty(): Promise<void> {
    expect([await namesOf(to, 'r'), await namesOf(to, 'S')]).toEqual([[], []]);
  }

  type OnRows = (done: number, total: number) => void;

  const copy = (onRows?: OnRows, { signal } = new AbortController()) =>
    copyDatabase(from, to, { signal, onRows });

  describe('A copy', () => {
    it('contains every table in full, and future tables automatically', async () => {
      const seen: number[][] = [];
      const content = await contentOf(from);
      const copied = await copy((...numbers) => seen.push(numbers));
      expect(copied.map(({ table }) => table).sort()).toEqual(await namesOf(from, 'r'));
      expect(await contentOf(to)).toEqual(content);
      const rows = copied.reduce((sum, table) => sum + table.rows, 0);
      expect(seen.at(-1)).toEqual([rows, rows]);
    });

    it('leaves out what another program has in the schema', async () => {
      await from.query('CREATE TABLE notes (id serial)');
      await to.query('CREATE SEQUENCE strangers');
      await copy();
      await Promise.all([from.query('DROP TABLE notes'), to.query('DROP SEQUENCE strangers')]);
      expect(await contentOf(to)).toEqual(await contentOf(from));
    });

    it('is a snapshot without any concurrent writes', async () => {
      const before = (await contentOf(from)).audit_entries;
      let written: Promise<unknown> | undefined;
      await copy(() => {
        written ??= late.query(
          `INSERT INTO audit_entries (at, actor_kind, actor, action, details) VALUES (now(), 'cli', 'late', 'x', '{}')`,
        );
      });
      await written;
      expect((await contentOf(to)).audit_entries).toEqual(before);
      expect((await contentOf(from)).audit_entries).not.toEqual(before);
    });

    it('of a store of an older version is refused', async () => {
      const older = await createTestDatabase('template1');
      const side = await open(older, MIGRATIONS);
      await side.runMigrations({ transaction: 'each' });
      const { signal } = new AbortController();
      await expect(copyDatabase(side, to, { signal })).rejects.toThrow(/lacks migrations of this version/);
      await side.destroy();
      await older.drop();
      await expectEmpty();
    });

    it('into a database that has tables is refused', async () => {
      await to.query('CREATE TABLE notes (text text)');
      await expect(copy()).rejects.toThrow(/the target is not empty: it has the table notes/);
      expect(await namesOf(to, 'r')).toEqual(['notes']);
    });
  });

  /** Ends all sessions of a database in another process, because in this one the copy could go on meanwhile. */
  function endSessions({ url }: TestDatabase): void {
    const script = `const { Client } = require('pg');
      const client = new Client(process.argv[1]);
      client.connect().then(() => client.query(\`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()\`)).then(() => client.end());`;
    execFileSync(process.execPath, ['-e', script, url]);
  }

  describe('A copy leaves the target empty', () => {
    it('when it loses its target, and can be repeated', async () => {
      await expect(copy(() => endSessions(target))).rejects.toThrow();
      await to.destroy();
      to = await open(target);
      await expectEmpty();
      await copy();
      expect(await contentOf(to)).toEqual(await contentOf(from));
    });

    it('when it loses its source', async () => {
      await expect(copy(() => endSessions(source))).rejects.toThrow();
      await expectEmpty();
    });

    it('when it is aborted, and fails with the reason', async () => {
      const controller = new AbortController();
      const reason = new Error('enough');
      await expect(copy(() => controller.abort(reason), controller)).rejects.toBe(reason);
      await expectEmpty();
    });
  });
});
