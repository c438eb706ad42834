import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../../support/cruise';

/** Regular expressions that a caller could keep busy, each with the rule that has to report it. */
const PLANTED: [what: string, code: string, rule: string][] = [
  ['two adjacent repetitions that match the same', '/^\\d+[0-9]+$/', 'regexp/no-super-linear-backtracking'],
  ['a repetition inside a repetition', '/^(a+)+$/', 'regexp/no-super-linear-backtracking'],
  ['a repetition behind a prefix', '/^bearer (.*)*x$/i', 'regexp/no-super-linear-backtracking'],
  ['a match that restarts at each character', '/\\s+\\n/g', 'regexp/no-super-linear-move'],
  ['alternatives that overlap', '/^(\\w|a)*$/', 'regexp/no-dupe-disjunctions'],
  ['a pattern built at run time', 'new RegExp(process.argv[2]!)', 'no-restricted-syntax'],
];

interface Report {
  line: number;
  ruleId: string;
}

/** What the linter reports of this text in a file of the sources. */
function lint(text: string): Report[] {
  const program = join(ROOT, 'node_modules/eslint/bin/eslint.js');
  const { stdout } = spawnSync(
    process.execPath,
    [program, '--stdin', '--stdin-filename', 'src/main.ts', '--format', 'json'],
    // By itself the typed parser would read the file instead of its standard input.
    { cwd: ROOT, input: text, encoding: 'utf8', env: { ...process.env, TSESTREE_SINGLE_RUN: 'false' } },
  );
  const [result] = JSON.parse(stdout) as { messages: Report[] }[];
  return result!.messages;
}

describe('The linter reports a pattern that takes more than linear time', () => {
  let reports: Report[];
  beforeAll(() => {
    reports = lint(PLANTED.map(([, code], index) => `export const p${index} = ${code};\n`).join(''));
  }, 120_000);

  it.each(PLANTED.map(([what, , rule], index) => [what, rule, index + 1] as const))(
    '%s: %s',
    (_what, rule, line) => {
      expect(reports.filter((report) => report.line === line).map(({ ruleId }) => ruleId)).toContain(rule);
    },
  );
});
