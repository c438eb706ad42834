import { join } from 'node:path';
import { type Program, parseFileSync, parseSync } from '@swc/core';
import { ROOT, filesOf } from '../../support/files';

const SYNTAX = { syntax: 'typescript', decorators: true } as const;

interface Node {
  type?: string;
  callee?: { value?: string };
  arguments?: unknown[];
  object?: { value?: string; property?: { value?: string } };
  property?: { value?: string; expression?: { value?: string } };
}

/** Every place where a program reads the clock of the machine. */
function readingsIn(program: Program): string[] {
  const readings: string[] = [];
  JSON.stringify(program, (_key, node: Node | null) => {
    const { type, callee, object, property } = node ?? {};
    const name = property?.value ?? property?.expression?.value;
    if (
      type === 'MemberExpression' &&
      name === 'now' &&
      [object?.value, object?.property?.value].includes('Date')
    ) {
      readings.push('Date.now');
    }
    if (type === 'NewExpression' && callee?.value === 'Date' && !node!.arguments?.length) {
      readings.push('new Date()');
    }
    if (type === 'CallExpression' && callee?.value === 'Date') readings.push('Date()');
    return node;
  });
  return readings;
}

it.each([
  ['Date.now', 'const end = Date.now() + 1'],
  ['Date.now', '[1].map(globalThis.Date.now)'],
  ['Date.now', 'Date["now"]()'],
  ['new Date()', 'function signed(at = new Date()) {}'],
  ['new Date()', 'new Date'],
  ['Date()', 'const today = Date()'],
])('%s is found in: %s', (reading, text) => {
  expect(readingsIn(parseSync(text, SYNTAX))).toEqual([reading]);
});

it.each(['new Date(0)', 'new Date(clock.now())', 'Date.UTC(2026, 10, 21)', "jest.spyOn(Date, 'now')"])(
  'No clock is read by: %s',
  (text) => {
    expect(readingsIn(parseSync(text, SYNTAX))).toEqual([]);
  },
);

// Processes of the service, which the system tier starts, have the time of the machine, and so have its tests.
it('No unit test and no test over HTTP knows the date of the machine', () => {
  const files = ['test/unit', 'test/http'].flatMap((folder) => filesOf(folder, '.ts'));
  const readings = files.map((file) => ({
    file,
    readings: readingsIn(parseFileSync(join(ROOT, file), SYNTAX)),
  }));
  expect(files.length).toBeGreaterThan(50);
  expect(readings.filter(({ readings }) => readings.length > 0)).toEqual([]);
});
