import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { type Unit, withProgress } from '../../../src/cli/output/progress';
import { until } from '../../support/eventually';
import { installation } from '../../support/installation';

/** A stream that passes for a terminal, or for none, and what was written to it. */
function screen(isTTY: boolean): { stream: NodeJS.WriteStream; text: () => string } {
  const stream = Object.assign(new PassThrough(), { isTTY, columns: 120 });
  let text = '';
  stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return { stream: stream as unknown as NodeJS.WriteStream, text: () => text };
}

async function shown(unit: Unit, total: number | undefined, isTTY = true): Promise<string> {
  const { stream, text } = screen(isTTY);
  const result = await withProgress({ title: 'Moving', unit, stream }, async (show) => {
    show({ done: 1_500_000, total, lines: 12_345 });
    // Drawn ten times a second at most.
    await until(() => !isTTY || text().includes('12,345'));
    return 'done';
  });
  expect(result).toBe('done');
  return text();
}

const AS_BUILT = `
  const { withProgress } = require(process.argv[1]);
  const { PassThrough } = require('node:stream');
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns: 120 });
  stream.pipe(process.stdout);
  withProgress({ title: 'Moving', unit: 'lines', stream }, async (show) => {
    show({ done: 1, total: 2, lines: 1 });
    await new Promise((resolve) => setTimeout(resolve, 300));
  });`;

test('the built program shows it too', () => {
  const file = join(installation(), 'dist/src/cli/output/progress.js');
  const text = execFileSync(process.execPath, ['-e', AS_BUILT, file], { encoding: 'utf8' });
  expect(text).toContain('Moving [==========----------] 50%');
});

describe('progress', () => {
  it('of a file is its percentage, bytes and lines per second', async () => {
    expect(await shown('bytes', 3_000_000)).toMatch(
      /Moving \[=+-+\] 50% .*1\.5 of 3\.0 MB {2}12,345 lines {2}[\d,]+ lines\/s/,
    );
  });

  it('of a known number of lines is a percentage', async () => {
    expect(await shown('lines', 3_000_000)).toMatch(/Moving \[=+-+\] 50% (?!.*MB).*12,345 lines/);
  });

  it('of input of unknown size is a count', async () => {
    expect(await shown('bytes', undefined)).toMatch(/Moving 12,345 lines {2}[\d,]+ lines\/s/);
  });

  it('is not shown without a terminal', async () => {
    expect(await shown('bytes', 3_000_000, false)).toBe('');
  });

  it('is drawn without colours, and cleared at the end', async () => {
    const text = await shown('bytes', 3_000_000);
    const escape = String.fromCharCode(27);
    expect(text.split(escape).filter((part) => /^\[[\d;]*m/.test(part))).toEqual([]);
    expect(text.endsWith(`${escape}[2K`)).toBe(true);
  });

  it('is cleared when the work fails', async () => {
    const { stream, text } = screen(true);
    const place = { title: 'Moving', unit: 'bytes', stream } as const;
    await expect(withProgress(place, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(text().endsWith('[2K')).toBe(true);
  });
});
