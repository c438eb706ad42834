import { execFileSync } from 'node:child_process';
import { ROOT } from '../../support/files';

/** Regular expressions that a caller could keep busy, each with the rule that has to report it. */
const PLANTED: [what: string, code: string, rule: string][] = [
  ['two adjacent repetitions that match the same', '/^\\d+[0-9]+$/', 'regexp/no-super-linear-backtracking'],
  ['a repetition inside a repetition', '/^(a+)+$/', 'regexp/no-super-linear-backtracking'],
  ['a repetition behind a prefix', '/^bearer (.*)*x$/i', 'regexp/no-super-linear-backtracking'],
  ['a match that restarts at each character', '/\\s+\\n/g', 'regexp/no-super-linear-move'],
  ['alternatives that overlap', '/^(\\w|a)*$/', 'regexp/no-dupe-disjunctions'],
  ['a pattern built at run time', 'new RegExp(process.argv[2]!)', 'no-restricted-syntax'],
];

/** Lints its input as a file of the sources, without the rules that need the types of the whole program. */
const LINTER = `
  import { readFileSync } from 'node:fs';
  import { ESLint } from 'eslint';
  import tseslint from 'typescript-eslint';
  const eslint = new ESLint({ overrideConfig: tseslint.configs.disableTypeChecked });
  const [{ messages }] = await eslint.lintText(readFileSync(0, 'utf8'), { filePath: 'src/main.ts' });
  console.log(JSON.stringify(messages));`;

it('The linter reports patterns that take more than linear time', () => {
  const input = PLANTED.map(([, code], index) => `export const p${index} = ${code};\n`).join('');
  const options = { cwd: ROOT, input, encoding: 'utf8' } as const;
  const messages = execFileSync(process.execPath, ['--input-type=module', '-e', LINTER], options);
  const reports = JSON.parse(messages) as { line: number; ruleId: string }[];
  const reported = new Set(reports.map(({ line, ruleId }) => `${PLANTED[line - 1]![0]}: ${ruleId}`));
  expect([...reported]).toEqual(expect.arrayContaining(PLANTED.map(([what, , rule]) => `${what}: ${rule}`)));
});
