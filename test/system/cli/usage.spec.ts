import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CommandFactory, CommandRunnerService } from 'nest-commander';
import { parse } from 'yaml';
import type { Commander } from '#libs/command-line';
import { CliModule } from '../../../src/cli/cli.module';
import { clientName } from '../../../src/modules/quotas/clients.command';
import { VERSION } from '../../../src/program';
import { complaint } from '../../support/command-line';
import { useFolder } from '../../support/files';
import { runCommand, useCommandLine } from './support/use-command-line';

/** The database does not exist, because none of these commands connects to one. */
const environment = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };
const run = (command: string) => runCommand(command.split(' ').filter(Boolean), environment);

it("A client's name is up to 100 letters, digits and few signs", () => {
  const good = ['acme', 'a', 'Acme_2.shop-eu', 'x'.repeat(100)];
  expect(good.map(clientName)).toEqual(good);
  for (const text of ['', '-acme', 'a b', 'x'.repeat(101), 'a\nb', 'ä']) {
    expect(() => clientName(text)).toThrow('a client name is 1 to 100');
  }
  expect(() => clientName('7')).toThrow('numbers are ids');
});

describe('bad usage is reported in one line and exits with 2', () => {
  it.each([
    ['nope', /unknown command 'nope'/],
    ['help nope', /unknown command 'nope' \(see --help/],
    ['help keys isue', /unknown command 'isue' \(Did you mean issue\?\)/],
    ['nope --help', /unknown command 'nope' \(see --help/],
    ['keys isue -h', /unknown command 'isue' \(Did you mean issue\?\)/],
    ['clients nope', /unknown command 'nope' \(see --help/],
    ['clients crate', /unknown command 'crate' \(Did you mean create\?\)/],
    ['clients create', /give <name> once: as an argument, or with --name/],
    ['clients create acme --name acme', /give <name> once: as an argument, or with --name/],
    ['keys issue', /give <client> once: as an argument, or with --client/],
    ['clients create --name', /'--name <name>' argument missing/],
    ['clients create --name -x', /--name: a client name is 1 to .* and begins with a letter or digit/],
    ['clients create --name acme --plan gold', /--plan: Allowed choices are free, pro, business, enterprise/],
    [
      'clients create --name acme --plan pro --per-day 5',
      /pro has fixed limits; only enterprise takes --per-minute/,
    ],
    ['clients create acme --per-minute 5', /free has fixed limits/],
    ['clients create acme --plan enterprise --per-minute 5', /needs both --per-minute and --per-day/],
    ['clients set-plan acme --plan enterprise --per-day 5', /needs both --per-minute and --per-day/],
    ['clients list --output yaml', /unknown option '--output' \(see --help\)/],
    ['keys revoke a\u001b[2J\u202e', /"a\\u001b\[2J\\u202e" is not an id/],
    ['keys show 0', /"0" is not an id/],
    ['keys update 1', /name a change: --name, --scopes, --expires or --no-expires/],
    ['completion tcsh', /<shell>: Allowed choices are bash, zsh, fish/],
    ['webhooks listen --forward-to here', /--forward-to: "here" must be an absolute URL/],
    ['events --types gone', /"gone" is not one of pet.created/],
    ['api POST', /\[path\] takes a path, such as POST \/pets, not "POST"/],
    ['api https://petstore.example/pets', /\[path\] takes a path, such as GET \/pets, not "https:/],
    ['api -d', /--data is no option: give a body as fields, such as -f name=Rex/],
    ['api POST /pets -d {}', /--data is no option: give a body as fields/],
    ['api TRACE /pets', /<method-or-path> takes GET, HEAD, DELETE, POST, PUT, PATCH, not "TRACE"/],
    ['api GET /pets -f limit', /--field: "limit" is not name=value/],
    ['api GET /pets -H If-Match', /--header: "If-Match" is not a header field/],
    ['api POST /pets -H content-length:9', /--header: Content-Length is computed from the body/],
    ['api /pets', /PETSTORE_KEY is not set/],
    ['clients list postgres://me:hunter2@db', /too many arguments/],
    ['keys show postgres://me:hun/ter2@db/x', /"postgres:\/\/me:…@db\/x" is not an id/],
  ])('petstore %s', async (command, line) => {
    expect(await run(command)).toEqual(complaint(2, line));
  });

  it.each([[''], ['clients']])('petstore %s alone shows its help', async (command) => {
    const { code, stdout, stderr } = await run(command);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^Usage: [^]*Commands:/);
  });
});

/** All commands without subcommands, each by its path, such as `keys issue`. */
function leavesOf(command: Commander, path: string[]): { path: string; command: Commander }[] {
  if (command.commands.length === 0) {
    return [{ path: path.join(' '), command }];
  }
  return command.commands.flatMap((below) => leavesOf(below, [...path, below.name()]));
}

describe('help', () => {
  it.each([
    ['clients create --help', / \[options\] <name>\n[^]*--name <name>[^]*--plan <plan> [^]*"free", "pro"/],
    ['serve --help', /SIGTERM or Ctrl-C[^]*PORT [^]*DATABASE_URL [^]*docs\/operations\/running\.md/],
    ['help keys', /Commands:\n *issue/],
  ])('petstore %s', async (command, text) => {
    const { code, stdout, stderr } = await run(command);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(text);
  });

  it('of every command has an example, and no line over 80 columns: a shell reads the lines of a long example as one command', async () => {
    const application = await CommandFactory.createWithoutRunning(await CliModule.forOperator('test'));
    const { commander } = application.get<unknown, { commander: Commander }>(CommandRunnerService);
    await application.close();
    const problems = leavesOf(commander.name('npx petstore'), []).flatMap(({ path, command }) => {
      let help = '';
      const writeOut = (text: string) => (help += text);
      command.configureOutput({ writeOut, getOutHelpWidth: () => 80 }).outputHelp();
      const tooLong = help.split('\n').filter((line) => line.length > 80);
      const examples = help.split('Examples:\n')[1] ?? '';
      const broken = examples.match(/.*[^\\]\n {4}.*/g) ?? [];
      return [...(examples.includes(` ${path}`) ? [] : [path]), ...tooLong, ...broken];
    });
    expect(problems).toEqual([]);
  });
});

it('openapi prints the document, as JSON and as YAML, without server and database', async () => {
  const json = await run('openapi');
  const yaml = await run('openapi --yaml');
  expect([json.code, json.stderr, yaml.code, yaml.stderr]).toEqual([0, '', 0, '']);
  const document = JSON.parse(json.stdout) as object;
  expect(document).toMatchObject({ openapi: '3.0.3', info: { version: '1.0.0' } });
  expect(yaml.stdout).toMatch(/^openapi: 3\.0\.3\n/);
  expect(parse(yaml.stdout)).toEqual(document);
});

describe('completion', () => {
  const script = async (shell: string) => (await run(`completion ${shell}`)).stdout;
  let ofBash: string;
  beforeAll(async () => void (ofBash = await script('bash')));

  it.each([
    ['petstore cl', ['clients']],
    ['petstore clients s', ['show', 'set-plan']],
    ['petstore keys update 2 --na', ['--name']],
    ['petstore clients create --plan b', ['business']],
    ['petstore keys issue --client ac', ['acme', 'acorn']],
    ['petstore clients show z', ['zoo']],
    ['petstore import cata', []],
  ])('in bash: %s', async (line, candidates) => {
    const asked = `COMP_WORDS=(${line}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _petstore; echo "\${COMPREPLY[*]}"`;
    const petstore = `petstore() { echo '[{"id":1,"name":"acme"},{"id":2,"name":"acorn"},{"id":3,"name":"zoo"}]'; }`;
    const source = `${petstore}\n${ofBash}\n${asked}`;
    const { stdout } = await promisify(execFile)('bash', ['-c', source]);
    expect(stdout.split(/\s+/).filter(Boolean)).toEqual(candidates);
  });

  it('in zsh as in bash, and in fish by functions of its own', async () => {
    expect(await script('zsh')).toContain(ofBash);
    expect(await script('fish')).toMatch(/case ' clients'\n +printf '%s\\n' create list show /);
  });
});

const folder = useFolder();
const COMMANDS =
  'clients list|keys issue --client acme|quotas top|webhooks retry 1|events|deprecations|audit|import 1|export 1|' +
  'db status|db migrate|db seed|db copy --to postgres://a@127.0.0.1:1/x';

it.each(COMMANDS.split('|'))(
  '%s creates no database: it reports that there is none, and how to create one',
  async (command) => {
    const none = complaint(1, /There is no database in [^\n]+: [^\n]+ serve/);
    expect(await runCommand(command.split(' '), { DATA_DIR: join(folder, '.petstore') })).toEqual(none);
    expect(readdirSync(folder)).toEqual([]);
  },
);

describe('on a terminal', () => {
  const NAME = 'a-client-with-a-name-that-is-quite-long';
  const { database, environment } = useCommandLine();

  beforeAll(async () => {
    await database.pool.query(
      `INSERT INTO clients (name, plan) VALUES ('${NAME}', 'free');
       INSERT INTO api_keys (client_id, digest, last4, scopes) VALUES (1, 'digest', 'ab12', '{read}');
       INSERT INTO deprecated_calls SELECT 1, operation, (now() AT TIME ZONE 'UTC')::date, 5, '2026-11-20T10:00:00Z'
         FROM unnest(ARRAY['getPet', 'gone']) AS operation;
       INSERT INTO audit_entries (at, actor_kind, actor, action, client_id, client_name, details) VALUES
         (now(), 'cli', 'ann', 'client.deleted', 99, 'gone', '{}'), (now(), 'key', '7', 'key.banned', 98, 'loud', '{}');
       INSERT INTO events (id, type, pet_id, data) VALUES (gen_random_uuid(), 'pet.created', 1, '{"id":1}')`,
    );
  });
  // Each test adds the usage of its day, because midnight may pass between two tests.
  beforeEach(() =>
    database.pool.query(
      `INSERT INTO usage_days SELECT 1, (now() AT TIME ZONE 'UTC')::date, 250 ON CONFLICT DO NOTHING`,
    ),
  );

  /** The output of a command on a terminal with this many columns. */
  async function printed(command: string, columns = 42): Promise<string> {
    const { code, stdout, stderr } = await runCommand(command.split(' '), environment, columns);
    expect({ command, code, stderr }).toEqual({ command, code: 0, stderr: '' });
    return stdout;
  }

  it.each([
    [`quotas show ${NAME}`, { client: NAME, plan: 'free' }],
    [`quotas reset ${NAME} --yes`, { client: NAME }],
    ['quotas top', [{ client: NAME, requests: 250 }]],
    ['deprecations', [{ operation: 'getPet', calls: 5 }, { operation: 'gone' }]],
    ['events', [{ type: 'pet.created' }]],
    ['keys rotate 1 --overlap 1h', { replaces: 1 }],
    ['audit --client gone', [{ actor: 'ann', action: 'client.deleted', client: 'gone', keyId: null }]],
    ['audit loud', [{ actor: 'key 7 (automatic)', action: 'key.banned' }]],
    ['version', { version: VERSION }],
  ])('%s --json is JSON, indented on a terminal of any width', async (command, expected) => {
    const text = await printed(`${command} --json`);
    const value = JSON.parse(text) as unknown;
    expect(value).toMatchObject(expected);
    expect(text).toBe(`${JSON.stringify(value, null, 2)}\n`);
  });

  it('the audit log is shown as a table, the newest changes first', async () => {
    await printed(`clients set-plan ${NAME} --plan pro`);
    await printed(`clients set-plan ${NAME} --plan free`);
    const [head, ...rows] = (await printed('audit --limit 2', 400)).split('\n');
    expect(head).toMatch(/^id +at +actor +action +client +details$/);
    expect(rows[0]).toMatch(/ client\.plan_changed +a-client-\S+ +{"plan":{"after":"free","before":"pro"}}$/);
    expect(rows[1]).toMatch(/{"plan":{"after":"pro","before":"free"}}$/);
    expect(rows.slice(2)).toEqual(['']);
  });

  it('quotas are shown in tables that fit the terminal', async () => {
    const window = /window +limit +used +remaining +reset\nminute +60 +0 +60 +-\nday +1000 +\d+ +\d+ +in \d/;
    expect(await printed(`quotas show ${NAME}`, 60)).toMatch(window);
    expect(await printed(`quotas show ${NAME}`)).toContain('\n\nThe running instances save these numbers');
    expect(await printed(`quotas reset ${NAME} --yes`)).toBe(
      `The counted requests of ${NAME} have been set to 0.\n`,
    );
  });
});
