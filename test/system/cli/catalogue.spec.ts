import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RunningCommand, complaint } from '../../support/command-line';
import { until } from '../../support/eventually';
import { useDatabase } from '../../support/test-database';
import { whileHeld } from '../../support/disturbances';
import { useCommandLine } from './support/use-command-line';
import { useFolder } from '../../support/files';

const folder = useFolder();
const { database, environment, run, json } = useCommandLine();
const large = useDatabase();

const path = (name: string) => join(folder, name);
const aPet = (name: string, categoryId = 1) => ({ kind: 'pet', name, categoryId });
const aCategory = (name: string) => ({ kind: 'category', id: 1, name });

function write(name: string, ...lines: (object | string)[]): string {
  const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
  writeFileSync(path(name), texts.join('\n'));
  return path(name);
}

async function pets(): Promise<number> {
  return (await database.pool.query(`SELECT FROM pets`)).rowCount!;
}

describe('import', () => {
  it('reports what it imported in a sentence or as JSON, and imports a file twice only after confirmation', async () => {
    const file = write('good.ndjson', aCategory('Newts'), aPet('Nia'), aPet('Ada'));
    const before = await pets();
    const imported = { code: 0, stdout: 'Imported 1 category and 2 pets.\n', stderr: '' };
    expect(await run('import', file)).toEqual(imported);
    const asked =
      /1 name is already in the store: Newts\. Import anyway\? Add --yes to confirm\. Nothing was imported\./;
    expect(await run('import', file)).toEqual(complaint(2, asked));
    expect(await pets()).toBe(before + 2);
    expect(await json('import', file, '--yes')).toEqual({ categories: 1, pets: 2 });
  });

  it('reports bad lines by number without terminal sequences, imports those before, and says how to go on', async () => {
    const before = await pets();
    const bad = Array.from({ length: 25 }, () => 'nope');
    const strange = { ...aPet('Stray'), '\u009b\u202e\u001b[2J': 1 };
    const file = write('bad.ndjson', aCategory('Strays'), aPet('Stray'), aPet('Stray', 9), strange, ...bad);
    const { code, stdout, stderr } = await run('import', file);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^petstore: 27 lines are bad\. Imported 1 category and 1 pet\. To go on: .* import \S+bad\.ndjson --from 3\nline 3: categoryId 9 is not the id of a category above\.\n/,
    );
    expect(stderr).toMatch(/\nline 4: "\\u009b\\u202e\\u001b\[2J" is not allowed here/);
    expect(stderr).toMatch(/\nline 22: must be a JSON object[^\n]+\nand 7 more lines\n$/);
    expect(await pets()).toBe(before + 1);
    const none = /The file has 29 lines, and none from 99 on\. Nothing was imported/;
    expect(await run('import', file, '--from', '99')).toEqual(complaint(1, none));
  });

  it('checks a file without importing it, and lists bad lines in JSON', async () => {
    const before = await pets();
    const good = write('checked.ndjson', aCategory('Newts'), aPet('Nia'));
    expect((await run('import', '--check', good)).stdout).toBe(
      'Checked 1 category and 1 pet; nothing was imported.\n',
    );
    const bad = write('bad-too.ndjson', aCategory('Newts'), aPet('Nia', 9), aPet('Ada'));
    const { code, stderr } = await run('import', '--check', bad, '--json');
    const lines = ['line 2: categoryId 9 is not the id of a category above.'];
    const error = { code: 'bad_lines', message: '1 line is bad. Nothing was imported.', lines };
    expect({ code, failure: JSON.parse(stderr) as object }).toEqual({ code: 1, failure: { error } });
    expect(await pets()).toBe(before);
  });

  it.each([
    ['an array', JSON.stringify([aCategory('Newts'), aPet('Nia')], null, 2)],
    ['an array without line ends', JSON.stringify(Array.from({ length: 3_000 }, () => aPet('Nia')))],
    ['a table', 'name,category\nNia,1\n'],
  ])('says of a file that is no NDJSON that it is none: %s', async (_what, text) => {
    const { code, stderr } = await run('import', write('other.json', text));
    const none =
      /^petstore: The file is not NDJSON: it has no line that is a JSON object\. Nothing was imported\.\nline 1: /;
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(none) as string });
  });

  it('reads standard input, ends on Ctrl-C, and says how to go on', async () => {
    const before = await pets();
    const running = new RunningCommand(['import'], environment, { cwd: folder });
    running.child.stdin.write(`${JSON.stringify(aCategory('Interrupted'))}\n`);
    const lines = Array.from({ length: 20_000 }, (_none, n) => `${JSON.stringify(aPet(`Pet ${n}`))}\n`);
    running.child.stdin.write(lines.join(''));
    await until(async () => (await pets()) > before);
    const { code, stdout, stderr } = await running.outcome('SIGINT');
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
    const imported = (await pets()) - before;
    const summary = `Imported 1 category and ${imported.toLocaleString('en-US')} pets\\. To go on: .* import - --from ${imported + 2}`;
    expect(stderr).toMatch(new RegExp(`^petstore: interrupted\\. ${summary}\\n$`));
  });
});

describe('export', () => {
  beforeAll(async () => {
    const another = { ...aCategory('Also exported'), id: 2 };
    const file = write('exported.ndjson', aCategory('Exported'), another, aPet('Exported'), aPet('Other', 2));
    expect((await run('import', file)).code).toBe(0);
  });

  it('writes to standard output, and reports to standard error', async () => {
    const { code, stdout, stderr } = await run('export', '--json');
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { kind: string });
    const size = JSON.parse(stderr) as { categories: number; pets: number };
    expect({ code, size }).toEqual({ code: 0, size: { categories: expect.any(Number), pets: await pets() } });
    expect(lines.map(({ kind }) => kind)).toEqual([
      ...Array.from({ length: size.categories }, () => 'category'),
      ...Array.from({ length: size.pets }, () => 'pet'),
    ]);
  });

  it('writes a file, and overwrites an existing one only when forced', async () => {
    const file = path('new.ndjson');
    expect((await run('export', file)).stdout).toMatch(/^Exported \d+ categories and \d+ pets\.\n$/);
    const written = readFileSync(file, 'utf8');
    expect(written).toContain('"name":"Exported"');
    write('new.ndjson', 'mine');
    const exists = complaint(1, /new\.ndjson already exists; --force overwrites it/);
    expect(await run('export', file)).toEqual(exists);
    expect(readFileSync(file, 'utf8')).toBe('mine');
    expect((await run('export', '--force', file)).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe(written);
    // /dev/stdout is a link to a pipe, which has no path.
    const noFile = complaint(1, /\/dev\/stdout is not a file\. Use - for standard output/);
    expect(await run('export', '/dev/stdout')).toEqual(noFile);
  });
});

it.each(['export ~/x', 'import $HOME/x', 'db copy --to ~/x'])(
  'a path that somebody types is written out: %s',
  async (command) => {
    const refused = complaint(2, /"(~|\$HOME)\/x" is not a plain path/);
    expect(await run(...command.split(' '))).toEqual(refused);
  },
);

it('50 MB are imported and exported in little memory, and an interrupted export leaves no file', async () => {
  const CATEGORIES = 6_250;
  const description = '🐕'.repeat(2_000);
  // A run needs half of this. On a busy machine, Node ends before it has collected its garbage.
  const inLittleMemory = ['--max-old-space-size=96'];
  const command = (args: string[], node: string[] = []) =>
    new RunningCommand(args, { DATABASE_URL: large.url }, { cwd: folder, node });
  const lines = Array.from({ length: CATEGORIES }, (_none, index) => ({
    ...aCategory(`Large ${index}`),
    id: index + 1,
    description,
  }));
  const file = write('large.ndjson', ...lines);
  expect(await command(['import', file, '--json'], inLittleMemory).outcome()).toMatchObject({
    code: 0,
    stdout: `{"categories":${CATEGORIES},"pets":0}\n`,
  });

  const exporting = command(['export', 'whole.ndjson'], inLittleMemory).outcome();
  const written = () => readdirSync(folder).filter((entry) => entry.startsWith('half.ndjson'));
  // An export reads the stock after the categories, so it cannot end while this table is locked.
  const { ending } = await whileHeld(large.pool, 'LOCK TABLE inventory', async () => {
    const interrupted = command(['export', 'half.ndjson']);
    await until(() => written().length > 0 && statSync(path(written()[0]!)).size > 0);
    return { ending: interrupted.outcome('SIGINT') };
  });
  const stderr = 'petstore: interrupted; half.ndjson was not written.\n';
  expect(await ending).toEqual({ code: 130, stdout: '', stderr });
  expect(written()).toEqual([]);
  expect(await exporting).toMatchObject({ code: 0, stderr: '' });
  expect(statSync(path('whole.ndjson')).size).toBeGreaterThan(CATEGORIES * 8_000);
});
