import { Readable } from 'node:stream';
import { ImportCatalogue } from '../../../../src/modules/catalogue';
import { ExportCatalogue } from '../../../../src/modules/catalogue/export-catalogue';
import type { ImportOutcome } from '../../../../src/modules/catalogue/import-catalogue';
import { SeedService } from '../../../../src/store/seed';
import { until } from '../../../support/eventually';
import { startService } from '../../../support/service';
import { TcpProxy } from '../../../support/tcp-proxy';
import { useService } from '../../../support/use-service';

type ImportOptions = Parameters<ImportCatalogue['importFrom']>[1];

const service = useService();

beforeEach(() => service.database.pool.query(`TRUNCATE categories, pets, events RESTART IDENTITY CASCADE`));

const aCategory = (id: number, name = `Category ${id}`) => ({ kind: 'category', id, name });
const aPetLine = (name: string, categoryId: number, more: object = {}) => ({
  kind: 'pet',
  name,
  categoryId,
  ...more,
});
const aFile = (...lines: unknown[]) =>
  lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');

function load(text: string | Buffer, options?: ImportOptions): Promise<ImportOutcome> {
  return service.app.get(ImportCatalogue).importFrom(Readable.from([Buffer.from(text)]), options);
}

async function exported(): Promise<Record<string, unknown>[]> {
  const lines: object[] = [];
  for await (const page of service.app.get(ExportCatalogue).lines()) {
    lines.push(...page);
  }
  return JSON.parse(JSON.stringify(lines)) as Record<string, unknown>[];
}

/** The names of the pets in the store, in the order of their ids. */
async function petNames(): Promise<unknown[]> {
  return (await exported()).filter(({ kind }) => kind === 'pet').map(({ name }) => name);
}

describe('an import', () => {
  it('creates categories and pets with their stock, by rules and events of the same requests', async () => {
    const file = aFile(
      aCategory(70, 'Dogs'),
      aPetLine('Rex', 70),
      aPetLine('Ada', 70, { status: 'sold' }),
      aCategory(3, 'Cats'),
      aPetLine('Tom', 3, { id: 1, status: 'pending', quantity: 5 }),
      aPetLine('Gone', 3, { quantity: 0 }),
    );
    expect(await load(file)).toMatchObject({
      created: { categories: 2, pets: 4 },
      badLines: 0,
      nextLine: 7,
    });
    expect(await exported()).toEqual([
      aCategory(1, 'Dogs'),
      aCategory(2, 'Cats'),
      { ...aPetLine('Rex', 1), id: 1, status: 'available', quantity: 1 },
      { ...aPetLine('Ada', 1), id: 2, status: 'sold', quantity: 0 },
      { ...aPetLine('Tom', 2), id: 3, status: 'pending', quantity: 5 },
      { ...aPetLine('Gone', 2), id: 4, status: 'sold', quantity: 0 },
    ]);
    const caller = await service.caller();
    const { body: events } = await caller.get<{ type: string; data: object }[]>('/events');
    const [category, pet] = ['category.created', 'pet.created'];
    const types = [category, pet, pet, category, pet, 'inventory.updated', pet];
    expect(events.map(({ type }) => type)).toEqual(types);
    expect(events[5]!.data).toEqual({ petId: 3, quantity: 5, status: 'pending' });
  });

  it('is recorded, unless it has created nothing', async () => {
    const audited = `SELECT details FROM audit_entries WHERE action = 'catalogue.imported'`;
    const before = (await service.database.pool.query(audited)).rowCount!;
    await load(aFile(aCategory(1), aPetLine('Rex', 1), 'nope'));
    await load(aFile('nope'));
    const { rows } = await service.database.pool.query<{ details: object }>(`${audited} ORDER BY id`);
    expect(rows.slice(before)).toEqual([{ details: { categories: 1, pets: 1, linesLeftOut: 1 } }]);
  });

  it('reads LF and CRLF, a byte order mark, empty lines, an end without a line end, and an empty file', async () => {
    const lines = [aCategory(1), aPetLine('Rex', 1), aPetLine('ä 😀 \ufeff', 1)];
    const text = lines.map((line) => JSON.stringify(line)).join('\r\n\n \n');
    expect(await load(`\ufeff${text}`)).toMatchObject({
      created: { categories: 1, pets: 2 },
      nextLine: 8,
    });
    expect(await petNames()).toEqual(['Rex', 'ä 😀 \ufeff']);
    expect(await load('')).toMatchObject({ created: { categories: 0, pets: 0 } });
  });

  it('imports the lines before a bad one, reports all bad lines, and goes on from there', async () => {
    const lines = [aCategory(1, 'Dogs'), aPetLine('Rex', 1), 'nope', aPetLine('Ada', 1), aPetLine('Tom', 9)];
    const { badLines, problems, nextLine } = await load(aFile(...lines));
    expect(problems).toEqual([
      { line: 3, problem: expect.stringMatching(/^must be a JSON object/) as string },
      { line: 5, problem: 'categoryId 9 is not the id of a category above.' },
    ]);
    expect([badLines, nextLine, await petNames()]).toEqual([2, 3, ['Rex']]);
    const mended = aFile(...lines.slice(0, 2), aPetLine('Kim', 1), aPetLine('Ada', 1));
    expect(await load(mended, { fromLine: 3 })).toMatchObject({
      created: { categories: 0, pets: 2 },
      nextLine: 5,
    });
    expect((await exported()).map(({ name }) => name)).toEqual(['Dogs', 'Rex', 'Kim', 'Ada']);
  });

  it('reports an id that is there twice, a line that never ends, what follows one that is too long, and at most twenty lines', async () => {
    const twice = await load(aFile(aCategory(1), aCategory(1)));
    expect(twice.problems).toEqual([{ line: 2, problem: 'id 1 is the id of a category above.' }]);
    const endless = await load(aFile(aCategory(1), aCategory(2)) + 'x'.repeat(200_000));
    expect(endless.problems).toEqual([{ line: 3, problem: 'must be at most 65536 bytes long.' }]);
    const long = await load(aFile('x'.repeat(200_000), aCategory(1), '{'), { checkOnly: true });
    expect(long.problems.map(({ line }) => line)).toEqual([1, 3]);
    const { badLines, problems } = await load(aFile(...Array.from({ length: 50 }, () => '{')));
    expect([badLines, problems.length]).toEqual([50, 20]);
  });

  it('stores nothing of a line that is not UTF-8, in whatever line and wherever its bytes are cut', async () => {
    const latin1 = (text: string) => Buffer.from(`${text}\n`, 'latin1');
    const [category, pet] = [aCategory(1), aPetLine('Rex', 1)].map((line) => Buffer.from(aFile(line)));
    const zoe = latin1(JSON.stringify(aPetLine('Zo\xeb', 1)));
    const cut = latin1(JSON.stringify(aPetLine('x\xc3', 1)));
    const { problems, nextLine } = await load(Buffer.concat([category!, pet!, zoe, pet!, cut]));
    const problem = expect.stringMatching(/^must be a JSON object in UTF-8/) as string;
    expect(problems).toEqual([
      { line: 3, problem },
      { line: 5, problem },
    ]);
    expect([nextLine, await petNames()]).toEqual([3, ['Rex']]);
    const utf16 = await load(Buffer.from(`\ufeff${aFile(aCategory(1))}`, 'utf16le'));
    expect(utf16.badLines).toBeGreaterThan(0);
    // If another program has already replaced a broken character by U+FFFD, this character is imported like any other.
    await load(aFile(aCategory(1), aPetLine('\ufffd', 1)));
    expect(await petNames()).toEqual(['Rex', '\ufffd']);
  });

  it('asks once before it imports names that are there, and imports nothing when refused', async () => {
    const file = aFile(aCategory(1, 'Dogs'), aCategory(2, 'Cats'), aPetLine('Rex', 1), aCategory(3, 'Dogs'));
    const asked: unknown[][] = [];
    const onRepeated = (...names: unknown[]) => Promise.resolve(void asked.push(names));
    await load(file, { onRepeated });
    expect(asked).toEqual([]);
    const refusal = new Error('no');
    const refused = await load(file, { onRepeated: () => Promise.reject(refusal) });
    expect(refused).toMatchObject({ created: { categories: 0 }, error: refusal });
    expect(await load(file, { onRepeated })).toMatchObject({
      created: { categories: 3, pets: 1 },
    });
    expect(asked).toEqual([[2, 'Dogs']]);
  });

  it('makes no good line a bad one in an outage that begins after some lines of a group, and goes on without a gap', async () => {
    const { pool } = service.database;
    const names = Array.from({ length: 120 }, (_none, index) => `Pet ${index}`);
    const file = aFile(aCategory(1), ...names.map((name) => aPetLine(name, 1)));
    // If the database refuses one line, all lines of its group are written one by one.
    await pool.query(`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.name = 'Pet 60' THEN RAISE 'refused' USING ERRCODE = 'check_violation'; END IF;
        IF split_part(NEW.name, ' ', 2)::int BETWEEN 70 AND 99 THEN RAISE 'full' USING ERRCODE = 'disk_full'; END IF;
        RETURN NEW; END $$;
      CREATE TRIGGER fails BEFORE INSERT ON pets FOR EACH ROW EXECUTE FUNCTION fail()`);
    const { nextLine, ...outcome } = await load(file);
    await pool.query('DROP FUNCTION fail CASCADE');
    expect(outcome).toMatchObject({ created: { pets: 69 }, badLines: 1, error: { code: '53100' } });
    expect(nextLine).toBe(72);
    await load(file, { fromLine: nextLine });
    expect(await petNames()).toEqual(names.filter((name) => name !== 'Pet 60'));
  });
});

describe('an import that goes on', () => {
  it('writes no line twice, wherever the one before it ended, and refuses a run that never began', async () => {
    const file = aFile(
      aCategory(1),
      aPetLine('Rex', 1),
      aPetLine('Ada', 1),
      aCategory(2),
      aPetLine('Tom', 2),
    );
    const { runId } = await load(file.slice(0, file.indexOf('{"kind":"category","id":2')));
    const onRepeated = () => Promise.reject(new Error('asked'));
    for (const fromLine of [1, 3, 4]) {
      expect((await load(file, { fromLine, runId, onRepeated })).error).toBeUndefined();
    }
    const unknown = await load(file, { runId: runId.replace(/.$/, 'x') });
    expect(unknown.error).toMatchObject({
      code: 'unknown_run',
      message: expect.stringMatching(
        /^The store has no line of import \S+x .*, leave out --run\.$/,
      ) as string,
    });
    expect([(await exported()).length, await petNames()]).toEqual([5, ['Rex', 'Ada', 'Tom']]);
  });

  it('reports a line that was changed after the import before had created it, and leaves the store as it is', async () => {
    const { runId } = await load(aFile(aCategory(1, 'Dogs'), aPetLine('Rex', 1)));
    const changed = async (...lines: object[]) => {
      const { problems, error } = await load(aFile(...lines), { runId });
      expect(error).toBeUndefined();
      return problems.map(({ line, problem }) => `line ${line}: ${problem}`);
    };
    const message = (line: number, kind: string) =>
      `line ${line}: has changed since import ${runId} handled this line. Change the ${kind} in the store, or import the line without --run.`;
    expect(await changed(aCategory(1, 'Dogs'), aPetLine('Max', 1))).toEqual([message(2, 'pet')]);
    expect(await changed(aCategory(1, 'Cats'), aPetLine('Rex', 1))).toContain(message(1, 'category'));
    const spaced = aFile(aCategory(1, 'Dogs'), aPetLine('Rex', 1)).replaceAll(',', ', ');
    expect((await load(spaced, { runId })).problems).toEqual([]);
    expect((await exported()).map(({ name }) => name)).toEqual(['Dogs', 'Rex']);
  });

  const twoOfAName = [aCategory(1, 'Dogs'), aCategory(2, 'Dogs'), aPetLine('Rex', 1), aPetLine('Ada', 2)];

  it('refuses a category that it cannot tell from another, and imports nothing', async () => {
    await load(aFile(...twoOfAName.slice(0, 3)));
    const refuses = async (reason: RegExp, ...lines: object[]) => {
      const { error, created } = await load(aFile(...lines), { fromLine: 4 });
      expect([error?.message, created.pets]).toEqual([expect.stringMatching(reason), 0]);
    };
    const inStore = /^Line 1: "Dogs" does not identify a category of the store, because the store has 2 /;
    await refuses(inStore, ...twoOfAName);
    expect(await petNames()).toEqual(['Rex']);
    await service.database.pool.query('DELETE FROM categories WHERE id = 2');
    await refuses(/^Line 2: .* a line above has the same name\./, ...twoOfAName);
    // A category that a caller has created meanwhile is not taken for one of the file.
    await service.database.pool.query(`INSERT INTO categories (name) VALUES ('Dogs')`);
    const [dogs, , ...others] = twoOfAName;
    await refuses(inStore, dogs!, aCategory(2, 'Cats'), ...others);
  });
});

it('A check of a file reports what an import would, and changes nothing', async () => {
  const { pool } = service.database;
  const audited = async () => (await pool.query('SELECT FROM audit_entries')).rowCount;
  const before = await audited();
  const lines = [aCategory(1, 'Dogs'), aPetLine('Rex', 1), 'nope', aPetLine('Ada', 1), aPetLine('Tom', 9)];
  const { created, problems } = await load(aFile(...lines), { checkOnly: true });
  expect(created).toEqual({ categories: 1, pets: 2 });
  expect(problems.map(({ line }) => line)).toEqual([3, 5]);
  // An import that continues at line 2 expects that line 1 has created Dogs, which a check does not do.
  const later = await load(aFile(...lines.slice(0, 2)), { checkOnly: true, fromLine: 2 });
  expect(later.problems).toEqual([{ line: 2, problem: expect.stringMatching(/no category 1/) as string }]);
  expect([await exported(), await audited()]).toEqual([[], before]);
});

it('An import whose COMMIT is not answered writes every line once', async () => {
  const { pool } = service.database;
  await pool.query(`CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      PERFORM pg_advisory_xact_lock(7); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER held AFTER INSERT ON pets DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW WHEN (NEW.name = 'Pet 20') EXECUTE FUNCTION hold()`);
  const proxy = await TcpProxy.start(service.database.url);
  const behind = await startService({ database: service.database, databaseUrl: proxy.url });
  const holder = await pool.connect();
  try {
    await holder.query('SELECT pg_advisory_lock(7)');
    const file = aFile(aCategory(1), ...Array.from({ length: 30 }, (_none, n) => aPetLine(`Pet ${n}`, 1)));
    const importing = behind.app.get(ImportCatalogue).importFrom(Readable.from([Buffer.from(file)]));
    const waits = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 7 AND NOT granted`;
    await until(async () => (await holder.query(waits)).rowCount === 1);
    proxy.fallSilent();
    await holder.query('SELECT pg_advisory_unlock(7)');
    await until(async () => (await holder.query('SELECT FROM pets')).rowCount === 30);
    await proxy.restore();
    const { created, error } = await importing;
    expect({ created, error }).toEqual({ created: { categories: 1, pets: 30 }, error: undefined });
    expect((await holder.query('SELECT FROM pets')).rowCount).toBe(30);
  } finally {
    holder.release();
    await behind.close();
    await proxy.close();
    await pool.query('DROP FUNCTION hold CASCADE');
  }
});

describe('seeding', () => {
  const seeds = () => service.app.get(SeedService);
  const pool = () => service.database.pool;

  it('that was killed is completed by the next start, wherever it was', async () => {
    await seeds().seed();
    const whole = await exported();
    const withoutIds = (entries: typeof whole) => entries.map(({ name, quantity }) => ({ name, quantity }));
    // The first turn is killed after the client was created, and the second one after the categories were.
    for (const table of ['categories, pets', 'pets']) {
      await pool().query(`TRUNCATE ${table} RESTART IDENTITY CASCADE`);
      expect(await seeds().isFirstRun()).toBe(true);
      expect((await seeds().seed()).key).toBeNull();
      expect(withoutIds(await exported())).toEqual(withoutIds(whole));
    }
  });

  it('at the same time as another seeding fills the store once', async () => {
    const seeded = await Promise.all([seeds().seed(), seeds().seed()]);
    const [one, other] = seeded.toSorted((a, b) => a.pets - b.pets);
    expect(one).toEqual({ categories: 0, pets: 0, key: null });
    expect(other!.pets).toBe((await petNames()).length);
  });

  it('adds nothing to a catalogue of others', async () => {
    await load(aFile(aCategory(1)));
    expect(await seeds().seed()).toMatchObject({ categories: 0, pets: 0 });
  });
});

it('an export imported again is the same catalogue, except for the ids', async () => {
  const strange = ['tab\there', 'line\nfeed\r', 'back\\slash \\N \\.', '"quotes"', '\u0001\u007f\u2028'];
  await load(
    aFile(
      ...strange.map((name, index) => ({ ...aCategory(index + 1, name), description: name })),
      ...strange.map((name, index) => aPetLine(name, index + 1, { quantity: index })),
      // There are more pets than an export reads at once.
      ...Array.from({ length: 250 }, (_none, n) => aPetLine(`Pet ${n}`, 1, { quantity: n % 3 })),
    ),
  );
  const before = await exported();
  expect(before).toHaveLength(strange.length * 2 + 250);
  await service.database.pool.query(`TRUNCATE categories, pets CASCADE`);
  await load(aFile(...before));
  const moved = before.map(({ id, categoryId, ...rest }) => ({
    ...rest,
    id: Number(id) + (rest.kind === 'pet' ? 255 : strange.length),
    ...(categoryId === undefined ? {} : { categoryId: Number(categoryId) + strange.length }),
  }));
  expect(await exported()).toEqual(moved);
});
