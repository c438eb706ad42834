import { execFileSync } from 'node:child_process';
import { completionScript } from '../../../src/cli/program.commands';
import { leavesOf, registeredCommands } from './support/registered-commands';

let petstore: Awaited<ReturnType<typeof registeredCommands>>;

beforeAll(async () => {
  petstore = await registeredCommands();
});

/** What bash itself would offer at the end of each line. */
function offers(...lines: string[][]): string[][] {
  const asks = lines.map((words) => {
    const quoted = words.map((word) => `'${word}'`).join(' ');
    return `COMP_WORDS=(petstore ${quoted}); COMP_CWORD=${words.length}; _petstore; echo "\${COMPREPLY[*]}"`;
  });
  const script = [completionScript(petstore), ...asks].join('\n');
  const output = execFileSync('bash', ['--norc', '-c', script], { encoding: 'utf8' });
  return output
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' ').filter(Boolean));
}

it('bash completes commands, subcommands and options, also after other options', async () => {
  const [keys, below, options, later, same] = offers(
    ['ke'],
    ['quotas', ''],
    ['clients', 'create', '--p'],
    ['clients', 'create', '--name', 'acme', '--pl'],
    ['keys', 'issue', '--client', 'keys', '--sc'],
  );
  expect(keys).toEqual(['keys']);
  expect(below).toEqual(expect.arrayContaining(['show', 'top', 'reset', '--help']));
  expect(options).toEqual(['--plan', '--per-minute', '--per-day']);
  expect([later, same]).toEqual([['--plan'], ['--scopes']]);
  for (const { path } of leavesOf(await registeredCommands())) {
    expect(completionScript(petstore)).toContain(`' ${path}')`);
  }
});

it('only lists offer --columns', async () => {
  const offering = leavesOf(await registeredCommands())
    .filter(({ command }) => command.options.some(({ long }) => long === '--columns'))
    .map(({ path }) => path.split(' ').at(-1)!);
  const showing = ['list', 'status', 'top', 'audit', 'deprecations'];
  expect([...new Set(offering)].sort()).toEqual(showing.sort());
});

it('bash completes files where a value is expected', () => {
  const [value, argument, after] = offers(
    ['clients', 'create', '--name', ''],
    ['quotas', 'show', 'clients', 'cr'],
    ['openapi', '--yaml', '--he'],
  );
  expect([value, argument, after]).toEqual([[], [], ['--help']]);
});
