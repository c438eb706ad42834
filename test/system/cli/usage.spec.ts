import { parse } from 'yaml';
import { complaint, petstore } from '../../support/command-line';
import { read } from '../../support/files';
import { leavesOf, registeredCommands } from './support/registered-commands';

/** Nothing here comes as far as a database: this one would be refused. */
const environment = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };
const run = (command: string) => petstore(command.split(' ').filter(Boolean), environment);

describe('bad usage is reported in one line and exits with 2', () => {
  it.each([
    ['nope', /unknown command 'nope'/],
    ['clients nope', /clients has no command nope. It has: create, list, show, set-plan/],
    ['--nope', /unknown option '--nope'/],
    ['clients list --nope', /unknown option '--nope'/],
    ['clients create', /required option '--name <name>'/],
    ['clients create --name', /'--name <name>' argument missing/],
    ['clients create --name -x', /name is 1 to 100 letters/],
    ['clients create --name acme --plan gold', /no plan gold.*free, pro, business, enterprise/],
    ['clients create --name acme --plan pro --per-day 5', /pro has fixed limits/],
    ['clients show', /missing required argument 'name'/],
    ['clients set-plan acme', /required option '--plan <plan>'/],
    ['clients set-plan acme --plan enterprise --per-day 5', /needs both --per-minute and --per-day/],
    ['keys issue', /required option '--client <name>'/],
    ['keys issue --client acme --scopes read,admin', /--scopes takes read, write or several/],
    ['keys revoke abc', /<key> takes the id of a key, or the whole key, not "abc"/],
    ['pets show 0', /<id> takes an id, which is a whole number, not "0"/],
    ['audit --since 2026-02-30', /--since takes a day/],
    ['audit --since 2999-01-01', /--since must not be in the future/],
    ['clients list --output xml', /--output takes table, json, yaml, csv, not "xml"/],
    ['pets list --status gone', /--status takes available, pending, sold/],
    ['quotas top --watch', /--watch needs a terminal/],
    ['quotas show', /missing required argument 'client'/],
    ['quotas top --days 91', /--days takes a whole number from 1 to 90/],
    ['completion tcsh', /bash, zsh, fish, not "tcsh"/],
    ['openapi --xml', /unknown option '--xml'/],
  ])('petstore %s', async (command, line) => {
    expect(await run(command)).toEqual(complaint(2, line));
  });

  it.each([[''], ['clients']])('petstore %s alone shows its help', async (command) => {
    const { code, stdout, stderr } = await run(command);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^Usage: petstore [^]*Commands:/);
  });
});

describe('--help', () => {
  it.each([
    ['', /serve[^]*clients[^]*keys[^]*db[^]*openapi/],
    ['clients create', /--plan <plan> +free, pro, business or enterprise \(default: "free"\)[^]*Examples:/],
    ['clients set-plan', /<name>[^]*--per-minute <requests>[^]*Examples:[^]*--per-minute 5000/],
    ['keys issue', /--scopes <scopes>[^]*--expires <when>[^]*Examples:/],
    ['serve', /SIGTERM or Ctrl-C[^]*environment/],
  ])('petstore %s', async (command, text) => {
    const { code, stdout, stderr } = await run(`${command} --help`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^Usage: petstore ${command}`));
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
