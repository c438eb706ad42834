import { execFileSync } from 'node:child_process';
import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import {
  ArchiveReader,
  assertReadable,
  DamagedArchiveError,
  loadArchive,
  writeArchive,
} from '#libs/database';
import { readTar, TAR_END, tarEntry } from '../../../../libs/database/src/transfer/tar';
import { MIGRATIONS } from '../../../../src/migrations';
import { dataSourceOptions } from '../../../../src/runtime/data-source';
import { type TestDatabase, createTestDatabase } from '../../../support/test-database';

/** A table that comes later, with all that makes a transfer difficult. */
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

/** Names and values with which the text format of COPY has to take care. */
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
  `INSERT INTO inventory SELECT id, 2147483647 FROM pets WHERE $1::text[] IS NOT NULL`,
  `INSERT INTO orders (pet_id, quantity, ship_date) SELECT id, 1, '0001-01-01T00:00:00Z' FROM pets, unnest($1::text[])`,
  `INSERT INTO clients (name, plan) SELECT md5(name), 'free' FROM unnest($1::text[]) AS name`,
  `INSERT INTO api_keys (client_id, digest, last4, scopes) SELECT id, name, '1234', $1 FROM clients`,
  `INSERT INTO usage_days SELECT id, date '2026-11-22', 9007199254740991 FROM clients WHERE $1::text[] IS NOT NULL`,
  `INSERT INTO key_bans (key_id, level, banned_until) SELECT id, 1, 'infinity' FROM api_keys WHERE $1::text[] IS NOT NULL`,
  `INSERT INTO quota_resets SELECT id, date '2026-11-22', 1, now() FROM clients WHERE $1::text[] IS NOT NULL`,
  `INSERT INTO deprecated_calls SELECT id, 'getPet', date '2026-11-22', 5, now() FROM api_keys WHERE $1::text[] IS NOT NULL`,
  `INSERT INTO idempotency_records (owner_id, key, fingerprint, status, body) SELECT 1, name, 'f', 201, name FROM unnest($1::text[]) AS name`,
  `INSERT INTO audit_entries (at, actor_kind, actor, action, details)
    SELECT now(), 'cli', name, 'client.created', jsonb_build_object('name', name) FROM unnest($1::text[]) AS name`,
];

let source: TestDatabase;
let from: DataSource;
let target: TestDatabase;
let to: DataSource;

const open = ({ url }: TestDatabase, migrations = [...MIGRATIONS, LaterTable1999999999999]) =>
  new DataSource({ ...dataSourceOptions(url, 2), entities: [], migrations }).initialize();

beforeAll(async () => {
  source = await createTestDatabase();
  from = await open(source);
  await from.runMigrations({ transaction: 'each' });
  for (const statement of FILLING) {
    await from.query(statement, [DIFFICULT]);
  }
  await from.query(`ALTER TABLE a_later_table DISABLE TRIGGER USER`);
  // A child before its parent, and a gap in the ids.
  await from.query(`INSERT INTO a_later_table (id, parent, "Name", client_id) OVERRIDING SYSTEM VALUE
    VALUES (40, 50, 'child', 1), (50, NULL, 'parent', NULL)`);
  await from.query(`ALTER TABLE a_later_table ENABLE TRIGGER USER`);
});
afterAll(async () => {
  await from.destroy();
  await source.drop();
});

const makeTarget = async () => {
  target = await createTestDatabase('template1');
  to = await open(target);
};
const dropTarget = async () => {
  await to.destroy();
  await target.drop();
};

function useEmptyTargets(): void {
  beforeEach(makeTarget);
  afterEach(dropTarget);
}

const namesOf = async (side: DataSource, kind: string): Promise<string[]> =>
  (
    await side.query<{ name: string }[]>(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = $1 ORDER BY 1`,
      [kind],
    )
  ).map(({ name }) => name);

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

const ATTACHMENTS = { 'some.key': 'secret' };

/** An archive, with what happens when some of its rows were read. */
function archiveOf(side: DataSource, onRows?: () => void): Promise<Buffer> {
  return writeArchive(side, { madeBy: 'test', attachments: ATTACHMENTS, onRows }, async (archive) => {
    const chunks: Buffer[] = [];
    for await (const chunk of archive) chunks.push(chunk);
    return Buffer.concat(chunks);
  });
}

/** In pieces of a size that fits nothing. */
async function* piecesOf(archive: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < archive.length; at += 1_000) {
    yield await Promise.resolve(archive.subarray(at, at + 1_000));
  }
}

type LoadOptions = Parameters<typeof loadArchive>[2];

async function load(archive: Buffer, side: DataSource, options?: LoadOptions): Promise<ArchiveReader> {
  const reader = await ArchiveReader.open(piecesOf(archive), Object.keys(ATTACHMENTS));
  await loadArchive(side, reader, options);
  return reader;
}

function copy(options: LoadOptions = {}): Promise<void> {
  return writeArchive(from, { madeBy: 'test', signal: options.signal }, async (archive) =>
    loadArchive(to, await ArchiveReader.open(archive), options),
  );
}

describe('An archive', () => {
  useEmptyTargets();

  it('contains every table in full, and future tables automatically', async () => {
    const seen: number[][] = [];
    const content = await contentOf(from);
    const { header, attachments } = await load(await archiveOf(from), to, {
      onRows: (...numbers) => seen.push(numbers),
    });
    const tables = (await namesOf(from, 'r')).filter((name) => name !== 'schema_migrations');
    expect(header.tables.map(({ name }) => name).sort()).toEqual(tables);
    expect(await contentOf(to)).toEqual(content);
    const rows = header.tables.reduce((sum, table) => sum + table.rows, 0);
    expect(seen.at(-1)).toEqual([rows, rows]);
    expect(attachments).toEqual(ATTACHMENTS);
  });

  it('is a snapshot without any concurrent writes', async () => {
    const before = (await contentOf(from)).audit_entries;
    let written: Promise<unknown> | undefined;
    const archive = await archiveOf(from, () => {
      written ??= from.query(
        `INSERT INTO audit_entries (at, actor_kind, actor, action, details) VALUES (now(), 'cli', 'late', 'x', '{}')`,
      );
    });
    await written;
    await load(archive, to);
    expect((await contentOf(to)).audit_entries).toEqual(before);
  });

  it('has rows in parts of bounded size, and can be read by tar', async () => {
    await from.query(`INSERT INTO categories (name, description)
      SELECT 'filling', repeat('x', 2000) FROM generate_series(1, 2000)`);
    const archive = await archiveOf(from);
    await from.query(`DELETE FROM categories WHERE name = 'filling'`);
    const listed = execFileSync('tar', ['tvf', '-'], { input: archive }).toString().trimEnd().split('\n');
    const entries = listed
      .map((line) => line.split(/\s+/))
      .map((words) => ({ name: words[5]!, bytes: words[2] }));
    expect(entries[0]!.name).toBe('header.json');
    expect(entries.at(-1)!.name).toBe('trailer.json');
    expect(entries.filter(({ name }) => name.startsWith('categories/')).length).toBeGreaterThan(2);
    expect(Math.max(...entries.map(({ bytes }) => Number(bytes)))).toBeLessThan(1.5 * 1024 * 1024);
  });

  it('of an older schema is loaded and then migrated, but not over another schema', async () => {
    const old = await createTestDatabase('template1');
    const side = await open(old, MIGRATIONS);
    await side.runMigrations({ transaction: 'each' });
    await side.query(`INSERT INTO categories (name) VALUES ('kept')`);
    const archive = await archiveOf(side);
    await side.destroy();
    await old.drop();
    await load(archive, to);
    const content = await contentOf(to);
    expect([content.categories, content.a_later_table].map((rows) => (rows as []).length)).toEqual([1, 1]);
    await expect(load(archive, to, { replace: true })).rejects.toThrow(/the schema of another version/);
    expect(await contentOf(to)).toEqual(content);
  });

  it('of a newer schema or another format is refused', async () => {
    const { header } = await ArchiveReader.open(piecesOf(await archiveOf(from)), Object.keys(ATTACHMENTS));
    expect(() => assertReadable(header, header.migrations)).not.toThrow();
    expect(() => assertReadable(header, header.migrations.slice(0, -1))).toThrow(/another version \(test\)/);
    expect(() => assertReadable({ ...header, format: 9 }, header.migrations)).toThrow(/another version/);
  });
});

describe('A database that has tables', () => {
  useEmptyTargets();

  it('is replaced only on demand, and then nothing of it is left', async () => {
    const archive = await archiveOf(from);
    await to.runMigrations({ transaction: 'each' });
    await to.query(
      `INSERT INTO clients (name, plan) SELECT 'other ' || n, 'free' FROM generate_series(1, 50) AS n`,
    );
    const before = await contentOf(to);
    await expect(load(archive, to)).rejects.toThrow(/the target is not empty/);
    expect(await contentOf(to)).toEqual(before);
    await load(archive, to, { replace: true });
    expect(await contentOf(to)).toEqual(await contentOf(from));
  });

  it('is not changed where the caller refuses it, before or after the rows are loaded', async () => {
    const archive = await archiveOf(from);
    const refusal = new Error('in use');
    const refuse = () => Promise.reject(refusal);
    await expect(load(archive, to, { assertUnused: refuse })).rejects.toBe(refusal);
    await expect(load(archive, to, { beforeCommit: refuse })).rejects.toBe(refusal);
    await expectEmpty();
  });
});

interface Entry {
  name: string;
  content: Buffer;
  /** Of tar: '2' is a symbolic link, 'x' an extended header. */
  type?: string;
  /** In the entry's header, instead of the real size. */
  size?: string;
}

async function entriesOf(archive: Buffer): Promise<Entry[]> {
  const entries: Entry[] = [];
  for await (const { name, content } of readTar(piecesOf(archive))) {
    const chunks: Buffer[] = [];
    for await (const chunk of content) chunks.push(chunk);
    entries.push({ name, content: Buffer.concat(chunks) });
  }
  return entries;
}

function build(entries: Entry[]): Buffer {
  const blocks = entries.flatMap(({ name, content, type = '0', size }) => {
    const [header, ...rest] = tarEntry(name, content);
    header!.write(type, 156);
    if (size !== undefined) header!.write(size, 124);
    header!.fill(' ', 148, 156);
    const checksum = header!.reduce((sum, byte) => sum + byte, 0);
    header!.write(`${checksum.toString(8).padStart(6, '0')}\0 `, 148);
    return [header!, ...rest];
  });
  return Buffer.concat([...blocks, TAR_END]);
}

const text = (name: string, content = '', more: Partial<Entry> = {}): Entry => ({
  name,
  content: Buffer.from(content),
  ...more,
});
const changed = (entries: Entry[], name: string, change: (content: string) => string) =>
  entries.map((entry) => (entry.name === name ? text(name, change(entry.content.toString())) : entry));
const withHeader = (
  entries: Entry[],
  change: (header: { tables: { name: string; columns: string[] }[] }) => void,
) =>
  changed(entries, 'header.json', (content) => {
    const header = JSON.parse(content) as { tables: { name: string; columns: string[] }[] };
    change(header);
    return JSON.stringify(header);
  });
const PETS = 'pets/000001';

const HOSTILE: [what: string, change: (entries: Entry[]) => Entry[], message: RegExp][] = [
  ['an unknown entry', (all) => all.toSpliced(1, 0, text('notes.txt')), /"notes.txt" does not belong there/],
  ['a path', (all) => all.toSpliced(3, 0, text('../x', 'x')), /"..\/x" does not belong there/],
  ['a link', (all) => all.toSpliced(1, 1, text('some.key', '', { type: '2' })), /not a plain file/],
  ['an extended header', (all) => [text('a', 'x', { type: 'x' }), ...all], /not a plain file/],
  ['the entries of another place', (all) => [...all.slice(1), all[0]!], /does not belong there/],
  ['an entry twice', (all) => [...all, all.at(-1)!], /"trailer.json" does not belong there/],
  [
    'a huge header',
    (all) => changed(all, 'header.json', (json) => json.padEnd(300_000)),
    /header.json has 300000 bytes/,
  ],
  [
    'a trailer of 8 GB',
    (all) => [...all.slice(0, -1), text('trailer.json', '', { size: '77777777777' })],
    /trailer.json has 8589934591/,
  ],
  [
    'a huge attachment',
    (all) => changed(all, 'some.key', () => 'x'.repeat(5_000)),
    /some.key has 5000 bytes/,
  ],
  ['a header that is no JSON', (all) => changed(all, 'header.json', () => '{'), /header.json cannot be read/],
  [
    'a header that controls a terminal',
    (all) => changed(all, 'header.json', (json) => json.replace('"startedAt":"', '$&\\u001b[2J')),
    /header.json cannot be read/,
  ],
  [
    'a header of something else',
    (all) => changed(all, 'header.json', () => '{"tables": [null]}'),
    /header.json cannot be read/,
  ],
  [
    'a table less',
    (all) => withHeader(all, ({ tables }) => tables.pop()),
    /its tables are not those of its schema/,
  ],
  [
    'a column less',
    (all) => withHeader(all, ({ tables }) => tables[0]!.columns.pop()),
    /its tables are not those/,
  ],
  [
    'a statement as a column',
    (all) => withHeader(all, ({ tables }) => (tables[0]!.columns[0] = 'id) FROM PROGRAM')),
    /its tables are not those/,
  ],
  [
    'the rows of a table less',
    (all) => all.filter(({ name }) => name !== PETS),
    /0 rows of pets instead of \d+/,
  ],
  [
    'a row less',
    (all) => changed(all, PETS, (rows) => rows.slice(0, rows.lastIndexOf('\n', rows.length - 2) + 1)),
    /rows of pets instead of/,
  ],
  [
    'a changed row',
    (all) => changed(all, PETS, (rows) => rows.replace('available', 'pending')),
    /rows of pets differ/,
  ],
  ['a row of the wrong type', (all) => changed(all, PETS, (rows) => `x${rows}`), /invalid input syntax/],
  [
    'a trailer without digests',
    (all) => changed(all, 'trailer.json', (json) => json.replace(/"digests":{[^}]*}/, '"digests":null')),
    /trailer.json cannot be read/,
  ],
  ['no trailer', (all) => all.slice(0, -1), /trailer.json is missing/],
  [
    'another sequence',
    (all) => changed(all, 'trailer.json', (json) => json.replace('pets_id_seq', 'other_seq')),
    /its sequences are not those/,
  ],
];

describe('A damaged or hostile archive is refused, and nothing is changed', () => {
  let entries: Entry[];
  let before: unknown;

  beforeAll(async () => {
    await makeTarget();
    await to.runMigrations({ transaction: 'each' });
    entries = await entriesOf(await archiveOf(from));
    before = await contentOf(to);
  });
  afterAll(async () => {
    expect(await contentOf(to)).toEqual(before);
    await dropTarget();
  });

  const refused = (archive: Buffer, message: RegExp) =>
    expect(load(archive, to, { replace: true })).rejects.toThrow(message);

  it.each(HOSTILE)('that has %s', async (_what, change, message) => {
    await refused(build(change(entries)), message);
  });

  it.each([1, 511, 512, 700, 100_000])('that lacks its last %i bytes', async (bytes) => {
    const whole = build(entries);
    await refused(whole.subarray(0, Math.max(0, whole.length - 1_024 - bytes)), /its end is missing/);
  });

  it('that has data after its end, or is something else', async () => {
    await refused(Buffer.concat([build(entries), Buffer.from('x')]), /data after its end/);
    await refused(Buffer.alloc(10_000, 'x'), /it is not an archive/);
    await refused(Buffer.alloc(0), /its end is missing/);
    await expect(load(Buffer.alloc(2_000), to)).rejects.toThrow(DamagedArchiveError);
  });
});

/** Ends all sessions of a database before anything else happens in this process, the rest of a copy above all. */
function endSessions({ url }: TestDatabase): void {
  const script = `const { Client } = require('pg');
    const client = new Client(process.argv[1]);
    client.connect().then(() => client.query(\`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()\`)).then(() => client.end());`;
  execFileSync(process.execPath, ['-e', script, url]);
}

describe('A copy leaves the target empty', () => {
  useEmptyTargets();

  it('when it loses its target, and can be repeated', async () => {
    await expect(copy({ onRows: () => endSessions(target) })).rejects.toThrow();
    await to.destroy();
    to = await open(target);
    await expectEmpty();
    await copy();
    expect(await contentOf(to)).toEqual(await contentOf(from));
  });

  it('when it loses its source', async () => {
    await expect(copy({ onRows: () => endSessions(source) })).rejects.toThrow();
    await expectEmpty();
  });

  it('when it fails before it has read all rows of a table', async () => {
    // More than the connection buffers.
    await from.query(`INSERT INTO categories (name, description)
      SELECT 'filling', repeat('x', 2000) FROM generate_series(1, 20000)`);
    const failure = new Error('too many');
    const onRows = (done: number) => {
      if (done > 1_000) throw failure;
    };
    await expect(copy({ onRows })).rejects.toBe(failure);
    await from.query(`DELETE FROM categories WHERE name = 'filling'`);
    await expectEmpty();
  });

  it('when it is aborted, and fails with the reason', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    await expect(copy({ signal: controller.signal, onRows: () => controller.abort(reason) })).rejects.toBe(
      reason,
    );
    await expectEmpty();
  });
});
