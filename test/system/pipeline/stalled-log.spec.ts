import { execFileSync } from 'node:child_process';
import { constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '../../../src/runtime/logging/logger';
import { until } from '../../support/eventually';

interface Line {
  number?: number;
  lostLines?: number;
}

let directory: string;
let writing: number;
let reading: number;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'stalled-log-'));
  const pipe = join(directory, 'pipe');
  execFileSync('mkfifo', [pipe]);
  reading = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  writing = openSync(pipe, constants.O_WRONLY);
});

/** The pipe stays open, because a logger goes on flushing for as long as its process lives. */
afterAll(() => rmSync(directory, { recursive: true }));

const buffer = Buffer.alloc(1 << 16);

/** What waits to be read; nothing when nothing waits. */
function readSome(): string {
  try {
    return buffer.toString('latin1', 0, readSync(reading, buffer));
  } catch (error) {
    expect(error).toMatchObject({ code: 'EAGAIN' });
    return '';
  }
}

async function readUntil(isAll: (output: string) => boolean): Promise<string> {
  let output = '';
  await until(() => isAll((output += readSome())));
  return output;
}

function linesOf(output: string): Line[] {
  return output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

test('an unread log takes at most 8 MB, and reports once how many lines it lost when it is read again', async () => {
  const logger = createLogger('info', writing);
  const text = 'x'.repeat(10_000);
  const written = 2_000;
  for (let number = 1; number <= written; number += 1) {
    logger.info({ number, text });
  }
  const lines = linesOf(
    await readUntil((output) => output.endsWith('}\n') && output.includes('"lostLines"')),
  );
  const kept = lines.filter(({ number }) => number !== undefined);
  const told = lines.filter(({ lostLines }) => lostLines !== undefined);
  expect(told).toHaveLength(1);
  expect(kept.length + told[0]!.lostLines!).toBe(written);
  expect(kept.length).toBeGreaterThan(700);
  expect(kept.length * text.length).toBeLessThan(8 * 1024 * 1024);

  logger.info({ number: written + 1 });
  expect(linesOf(await readUntil((output) => output.endsWith('}\n')))).toMatchObject([
    { number: written + 1 },
  ]);
});
