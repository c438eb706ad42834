import { join } from 'node:path';
import { complaint, petstore } from '../../support/command-line';

/** Nothing here comes as far as a database: this one would be refused. */
const environment = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };
const run = (command: string) => petstore(command.split(' ').filter(Boolean), environment);

describe('bad usage is told in one line and ends with 2', () => {
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
    ['keys issue --client acme --scopes read,admin', /--scopes takes read, write or read,write/],
    ['keys revoke abc', /<id> takes a whole number/],
    ['quotas show', /missing required argument 'client'/],
    ['quotas top --days 91', /--days takes a whole number from 1 to 90/],
    ['completion fish', /bash and zsh, not "fish"/],
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

describe('--help is worth reading', () => {
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

  it('and neither the database nor the server is loaded for it', async () => {
    const node = ['--require', join(__dirname, 'support', 'tell-cost.js')];
    const { stderr } = await petstore(['clients', '--help'], environment, { node });
    const cost = JSON.parse(stderr) as { loaded: boolean };
    expect(cost.loaded).toBe(false);
  });

  it('--version prints the version', async () => {
    expect(await run('--version')).toEqual({ code: 0, stdout: '1.0.0\n', stderr: '' });
  });
});
