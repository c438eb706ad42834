import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { read } from '../../support/files';

/** Lines that break a rule of redocly.yaml. Each one replaces the first line of the document that is like it. */
const PLANTED: [rule: string, line: RegExp, replacement: string][] = [
  ['arrays-are-bounded', /\n +maxItems: .+/, ''],
  ['strings-are-bounded', /\n +maxLength: .+/, ''],
  ['strings-have-a-form', /\n +format: date-time/, ''],
  ['integers-have-a-format', /\n +format: int64/, ''],
  ['integers-have-a-minimum', /\n +minimum: .+/, ''],
  ['integers-have-a-maximum', /\n +maximum: .+/, ''],
  ['objects-are-closed-or-silent', /additionalProperties: false/, 'additionalProperties: true'],
  ['operations-need-a-key', /\n( +)operationId: .+/, '$&\n$1security: []'],
  ['operations-say-how-they-refuse', /"429":/, '"428":'],
];

it('Redocly, with what OWASP asks besides, finds nothing in openapi.yaml, and what breaks the rules that are added to its own', () => {
  const committed = read('openapi.yaml');
  const broken = PLANTED.reduce((text, [, line, replacement]) => text.replace(line, replacement), committed);
  const judge = [join(__dirname, 'support/judge.mjs')];
  const verdicts = execFileSync(process.execPath, judge, { input: JSON.stringify([committed, broken]) });
  const [findings, found] = JSON.parse(verdicts.toString()) as { rule: string }[][];
  expect(findings).toEqual([]);
  const rules = found!.map(({ rule }) => rule).filter((rule) => rule.startsWith('rule/'));
  expect([...new Set(rules)].sort()).toEqual(PLANTED.map(([rule]) => `rule/${rule}`).sort());
});
