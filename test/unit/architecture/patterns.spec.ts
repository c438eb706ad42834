import { join } from 'node:path';
import { RegExpParser, visitRegExpAST } from '@eslint-community/regexpp';
import { parseFileSync } from '@swc/core';
import { getFirstConsumedChar } from 'regexp-ast-analysis';
import { analyse } from 'scslre';
import { ROOT, filesOf } from '../../support/files';

/** How the time for a text that does not match can grow with more than its length: one caller would block the process for all others. */
function faultsOf(literal: string): string[] {
  const { pattern, flags } = new RegExpParser().parseLiteral(literal);
  const faults = analyse({ pattern, flags }).reports.map(({ type }): string => type);
  visitRegExpAST(pattern, {
    onQuantifierEnter({ element, max }) {
      const choices = max === Infinity && 'alternatives' in element ? element.alternatives : [];
      const starts = choices.map((choice) => getFirstConsumedChar(choice, 'ltr', flags).char);
      if (starts.some((start, at) => starts.slice(0, at).some((other) => !start.isDisjointWith(other)))) {
        faults.push('Choice');
      }
    },
  });
  return faults;
}

/** Every literal of a file. */
function patternsIn(file: string): string[] {
  const literals: string[] = [];
  const program = parseFileSync(join(ROOT, file), { syntax: 'typescript', decorators: true });
  JSON.stringify(program, (_key, node: { type?: string; pattern?: string; flags?: string } | null) => {
    if (node?.type === 'RegExpLiteral') literals.push(`/${node.pattern}/${node.flags}`);
    return node;
  });
  return literals;
}

it.each([
  ['Self', '/^(a+)+$/'],
  ['Trade', '/^a*a*b/'],
  ['Move', '/a*b/'],
  ['Choice', '/^(?:a|ab?)*c/'],
])('%s: %s takes more than linear time', (fault, literal) => {
  expect(faultsOf(literal)).toEqual([fault]);
});

// The linter allows no other way to make a pattern.
it('No pattern takes more than linear time', () => {
  const files = ['src', 'libs'].flatMap((folder) => filesOf(folder, '.ts'));
  const patterns = files.flatMap((file) => patternsIn(file).map((literal) => ({ file, literal })));
  expect(patterns.length).toBeGreaterThan(50);
  expect(patterns.filter(({ literal }) => faultsOf(literal).length > 0)).toEqual([]);
});
