import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { complaint, petstore } from '../../support/command-line';
import { read } from '../../support/files';
import { installation } from '../../support/installation';
import { leavesOf, registeredCommands } from './support/registered-commands';

/** Nothing here comes as far as a database: this one would be refused. */
const environment = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };
const run = (command: string) => petstore(command.split(' ').filter(Boolean), environment);

describe('bad usage is reported in one line and exits with 2', () => {
  it.each([
    ['nope', /unknown command 'nope'/],
    ['clients nope', /unknown command 'nope' \(see --help/],
    ['--nope', /unknown option '--nope'/],
    ['clients list --nope', /unknown option '--nope'/],
    ['clients crate', /unknown command 'crate' \(Did you mean create\?\)/],
    ['clients create', /required option '--name <name>' not specified/],
    ['clients create acme --name acme', /too many arguments/],
    ['clients create --name', /'--name <name>' argument missing/],
    [
      'clients create --name -x',
      /'--name <name>' argument '-x' is invalid. a client name is 1 to 100 letters/,
    ],
    ['clients create --name acme --plan gold', /no plan gold.*free, pro, business, enterprise/],
    ['clients create --name acme --plan pro --per-day 5', /pro has fixed limits/],
    ['clients show', /missing required argument 'name'/],
    ['clients set-plan acme', /required option '--plan <plan>'/],
    ['clients set-plan acme --plan enterprise --per-day 5', /needs both --per-minute and --per-day/],
    ['keys issue', /required option '--client <name>' not specified/],
    ['api GET pets', /<path> takes a path that begins with \//],
    [
      'api GET /pets -f limit',
      /--field <name=value>' argument 'limit' is invalid. "limit" is not name=value/,
    ],
    ['api GET /pets', /PETSTORE_KEY is not set/],
    ['keys issue --client acme --scopes read,admin', /"admin" is not one of read, write/],
    ['keys revoke abc', /"abc" is not an id/],
    ['webhooks show 0', /"0" is not an id/],
    ['keys issue --client acme --expires 2020-01-01', /"2020-01-01" is not in the future/],
    ['clients list --output yaml', /"yaml" is not one of table, json, csv/],
    ['events --type gone', /"gone" is not one of pet.created/],
    ['quotas show', /missing required argument 'client'/],
    [
      'quotas top --days 91',
      /--days <days>' argument '91' is invalid. "91" is not a whole number from 1 to 90/,
    ],
    ['openapi --xml', /unknown option '--xml'/],
  ])('petstore %s', async (command, line) => {
    expect(await run(command)).toEqual(complaint(2, line));
  });

  it.each([[''], ['clients']])('petstore %s alone shows its help', async (command) => {
    const { code, stdout, stderr } = await run(command);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^Usage: node \S+petstore\.js [^]*Commands:/);
  });
});

describe('--help', () => {
  it.each([
    ['', /serve[^]*clients[^]*keys[^]*db[^]*openapi/],
    [
      'clients create',
      / \[options\]\n[^]*--name <name>[^]*--plan <plan> +free, pro, business or enterprise \(default: "free"\)[^]*Examples:/,
    ],
    ['clients set-plan', /<name>[^]*--per-minute <requests>[^]*Examples:[^]*--per-minute 5000/],
    ['keys issue', / \[options\]\n[^]*--client <name>[^]*--name [^]*--expires <when>[^]*Examples:/],
    ['serve', /SIGTERM or Ctrl-C[^]*environment/],
  ])('petstore %s', async (command, text) => {
    const { code, stdout, stderr } = await run(`${command} --help`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^Usage: node \\S+petstore\\.js ${command}`));
    expect(stdout).toMatch(text);
  });

  it('has an example for every command', async () => {
    const examples = leavesOf(await registeredCommands()).map(({ path, command }) => {
      let help = '';
      command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
      return [path, help.split('Examples:\n')[1]?.includes(` ${path}`)];
    });
    expect(examples.filter(([, found]) => !found)).toEqual([]);
  });

  it.each(['--version', '-v', 'version'])('%s prints the version of the package', async (command) => {
    const { version } = JSON.parse(read('package.json')) as { version: string };
    expect(await run(command)).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });
});

it('openapi prints the document, as JSON and as YAML, without server and database', async () => {
  const [json, yaml] = await Promise.all([
    petstore(['openapi'], environment),
    petstore(['openapi', '--yaml'], environment),
  ]);
  expect([json.code, json.stderr, yaml.code, yaml.stderr]).toEqual([0, '', 0, '']);
  const document = JSON.parse(json.stdout) as object;
  expect(document).toMatchObject({ openapi: '3.0.3', info: { version: '1.0.0' } });
  expect(Object.keys(document)).toContain('paths');
  expect(yaml.stdout).toMatch(/^openapi: 3\.0\.3\n/);
  expect(parse(yaml.stdout)).toEqual(document);
});

it('the built program has its progress bar', () => {
  const script = `
    const stream = Object.assign(new (require('node:stream').PassThrough)(), { isTTY: true, columns: 120 });
    stream.pipe(process.stdout);
    const { withProgress } = require(process.argv[1]);
    withProgress({ title: 'Moving', noun: 'lines', stream }, async (show) => {
      show({ done: 1, total: 2, count: 1 });
      await new Promise((resolve) => setTimeout(resolve, 300));
    });`;
  const file = join(installation(), 'dist/src/cli/command/operator.js');
  const text = execFileSync(process.execPath, ['-e', script, file], { encoding: 'utf8' });
  expect(text).toContain('Moving [==========----------] 50%');
});

/** Commands that need no database: the server makes one, and these never ask for one. */
const WITHOUT_DATABASE = new Set(['serve', 'openapi', 'version', 'api', 'webhooks listen']);
/** What commands are called with where they need it. */
const VALUES: Readonly<Record<string, string>> = {
  name: 'acme',
  client: 'acme',
  plan: 'pro',
  to: 'postgres://a@127.0.0.1:1/x',
};
const ANYTHING = '1';

/** Of each group the last command, because they open the store in the same way. */
async function commandLines(): Promise<string[][]> {
  const leaves = leavesOf(await registeredCommands()).filter(({ path }) => !WITHOUT_DATABASE.has(path));
  const groups = new Map(leaves.map((leaf) => [leaf.path.split(' ')[0], leaf]));
  return [...groups.values()].map(({ path, command }) => [
    ...path.split(' '),
    ...command.registeredArguments
      .filter((argument) => argument.required || VALUES[argument.name()] !== undefined)
      .map((argument) => VALUES[argument.name()] ?? ANYTHING),
    ...command.options
      .filter(({ mandatory }) => mandatory)
      .flatMap((option) => [option.long!, VALUES[option.attributeName()] ?? ANYTHING]),
    ...command.options.filter(({ long }) => long === '--yes').map(({ long }) => long!),
  ]);
}

describe('a command without DATABASE_URL', () => {
  it('other than serve creates no database: it reports in one line that there is none, and how to create one', async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'petstore-usage-'));
    const lines = await commandLines();
    expect(lines.length).toBeGreaterThan(6);
    for (const line of lines) {
      const outcome = await petstore(line, { DATA_DIR: '.petstore' }, { cwd });
      const { code, stderr } = outcome;
      expect({ line, code, stderr }).toEqual({
        line,
        code: 1,
        stderr: expect.stringMatching(
          /^petstore: There is no database in [^\n]+: [^\n]+ serve[^\n]*\n$/,
        ) as string,
      });
    }
    expect(readdirSync(cwd)).toEqual([]);
    rmSync(cwd, { recursive: true });
  });

  it('reports in one line that DATA_DIR is a file', async () => {
    const DATA_DIR = __filename;
    expect(await petstore(['clients', 'list'], { DATA_DIR })).toEqual(
      complaint(1, /is a file and not a folder/),
    );
  });
});
