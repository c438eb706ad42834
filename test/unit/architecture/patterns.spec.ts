import { join } from 'node:path';
import { RegExpParser, visitRegExpAST } from '@eslint-community/regexpp';
import { parseFileSync } from '@swc/core';
import { getFirstConsumedChar } from 'regexp-ast-analysis';
import { analyse } from 'scslre';
import { ROOT, filesOf } from '../../support/files';

/** Patterns for which the time to reject a text can grow faster than its length, so that one caller could block the process. */
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

/** All literals of regular expressions in a file. */
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

// Literals are all patterns, because the linter forbids other ways to create one.
it('No pattern takes more than linear time', () => {
  const files = ['src', 'libs'].flatMap((folder) => filesOf(folder, '.ts'));
  const patterns = files.flatMap((file) => patternsIn(file).map((literal) => ({ file, literal })));
  expect(patterns.length).toBeGreaterThan(50);
  expect(patterns.filter(({ literal }) => faultsOf(literal).length > 0)).toEqual([]);
});
