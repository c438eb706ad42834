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

async function shown(total: number | undefined, isTTY = true): Promise<string> {
  const { stream, text } = screen(isTTY);
  const result = await withProgress({ title: 'Moving', noun: 'lines', stream }, async (show) => {
    show({ done: 1_500_000, total, count: 12_345 });
    // Drawn ten times a second at most.
    await until(() => !isTTY || text().includes('12,345'));
    return 'done';
  });
  expect(result).toBe('done');
  return text();
}

describe('progress', () => {
  it('is a percentage and what was counted', async () => {
    expect(await shown(3_000_000)).toMatch(/Moving \[=+-+\] 50% .*12,345 lines/);
  });

  it('of input of unknown size is a count', async () => {
    expect(await shown(undefined)).toContain('Moving 12,345 lines');
  });

  it('is not shown without a terminal', async () => {
    expect(await shown(3_000_000, false)).toBe('');
  });
});
