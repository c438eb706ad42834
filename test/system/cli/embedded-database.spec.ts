import { readdirSync } from 'node:fs';
import { complaint, petstore, petstoreJson } from '../../support/command-line';
import { ServiceBench } from '../../support/service-process';
import { leavesOf, registeredCommands } from './support/registered-commands';

const bench = new ServiceBench();

afterAll(() => bench.clear());

/** Commands that need no database: the server makes one, and these never ask for one. */
const WITHOUT_DATABASE = new Set(['serve', 'openapi', 'completion', 'version', 'db restore']);
/** What commands are called with where they need it. */
const VALUES: Readonly<Record<string, string>> = {
  name: 'acme',
  client: 'acme',
  plan: 'pro',
  to: 'postgres://a@127.0.0.1:1/x',
};
const ANYTHING = '1';

async function commandLines(): Promise<string[][]> {
  const leaves = leavesOf(await registeredCommands()).filter(({ path }) => !WITHOUT_DATABASE.has(path));
  return leaves.map(({ path, command }) => [
    ...path.split(' '),
    ...command.registeredArguments
      .filter(({ required }) => required)
      .map((argument) => VALUES[argument.name()] ?? ANYTHING),
    ...command.options
      .filter(({ mandatory }) => mandatory)
      .flatMap((option) => [option.long!, VALUES[option.attributeName()] ?? ANYTHING]),
    ...command.options.filter(({ long }) => long === '--yes').map(({ long }) => long!),
  ]);
}

describe('a command without DATABASE_URL', () => {
  it('other than serve creates no database: it reports in one line that there is none, and how to create one', async () => {
    const cwd = bench.folder('wrong');
    const lines = await commandLines();
    expect(lines.length).toBeGreaterThan(20);
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
  });

  it('uses the database of the service, and stops it again', async () => {
    const environment = bench.embedded();
    await (await bench.serve(environment)).end();
    const states = await petstoreJson<{ state: string }[]>(['db', 'status'], environment);
    expect(states.every(({ state }) => state === 'done')).toBe(true);
    const created = await Promise.all(
      ['one', 'two'].map((name) => petstoreJson(['clients', 'create', '--name', name], environment)),
    );
    expect(created).toHaveLength(2);
    expect(bench.postmaster()).toBeUndefined();
  });

  it('reports in one line that DATA_DIR is a file', async () => {
    const DATA_DIR = __filename;
    expect(await petstore(['clients', 'list'], { DATA_DIR })).toEqual(
      complaint(1, /is a file and not a folder/),
    );
  });
});
