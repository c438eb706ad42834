import { hostname, userInfo } from 'node:os';
import { PassThrough } from 'node:stream';
import type { SingleBar } from 'cli-progress';
import { operatorName, withProgress } from '../../../../libs/command-line/src/operator';
import { until } from '../../../support/eventually';

const here = `${userInfo().username}@${hostname()}`;

test('the sudo user is recorded in addition to the user, never instead of it', () => {
  expect(operatorName({ SUDO_USER: 'ann' })).toBe(`${here} (sudo by ann)`);
});

test('the operator is recorded with user and host, and what cannot be the name of a user is left out', () => {
  for (const SUDO_USER of [undefined, '', 'ann) (sudo by bob', 'a\nb', '\u001b[2J', 'x'.repeat(101)]) {
    expect(operatorName({ SUDO_USER })).toBe(here);
  }
});

/** A stream that passes for a terminal if `isTTY`, and a function that returns the text that was written to it. */
function screen(isTTY: boolean): { stream: typeof process.stderr; text: () => string } {
  const stream = Object.assign(new PassThrough(), { isTTY, columns: 120 });
  let text = '';
  stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return { stream: stream as unknown as typeof process.stderr, text: () => text };
}

it.each([
  ['a percentage and what was counted', 3_000_000, true, /Moving \[=+-+\] 50% .*12,345 lines/],
  ['a count, if the size of the input is unknown', 0, true, /Moving 12,345 lines/],
  ['nothing without a terminal', 3_000_000, false, /^$/],
])('Progress is %s', async (_what, total, isTTY, expected) => {
  const { stream, text } = screen(isTTY);
  const work = async (bar: SingleBar) => {
    bar.setTotal(total);
    bar.update(1_500_000, { count: 12_345 });
    // The progress is drawn at most ten times a second.
    await until(() => !isTTY || text().includes('12,345'));
  };
  await withProgress('Moving', 'lines', work, stream);
  expect(text()).toMatch(expected);
});
