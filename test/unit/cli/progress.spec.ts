import { PassThrough } from 'node:stream';
import { withProgress } from '../../../src/cli/command/operator';
import { until } from '../../support/eventually';

/** A stream that passes for a terminal, or for none, and what was written to it. */
function screen(isTTY: boolean): { stream: NodeJS.WriteStream; text: () => string } {
  const stream = Object.assign(new PassThrough(), { isTTY, columns: 120 });
  let text = '';
  stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return { stream: stream as unknown as NodeJS.WriteStream, text: () => text };
}

it.each([
  ['a percentage and what was counted', 3_000_000, true, /Moving \[=+-+\] 50% .*12,345 lines/],
  ['a count, if the size of the input is unknown', undefined, true, /Moving 12,345 lines/],
  ['nothing without a terminal', 3_000_000, false, /^$/],
])('Progress is %s', async (_what, total, isTTY, expected) => {
  const { stream, text } = screen(isTTY);
  await withProgress({ title: 'Moving', noun: 'lines', stream }, async (show) => {
    show({ done: 1_500_000, total, count: 12_345 });
    // Drawn ten times a second at most.
    await until(() => !isTTY || text().includes('12,345'));
  });
  expect(text()).toMatch(expected);
});
