import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { createLogger, endLog } from '../../../src/runtime/logging';
import { until } from '../../support/eventually';
import { useFolder } from '../../support/files';

/** The folder of all pipes. They stay open, because a logger flushes as long as its process runs. */
const directory = useFolder();
let pipes = 0;

/** Creates a pipe, and opens both of its ends. */
function openPipe(flags = constants.O_NONBLOCK): { writing: number; reading: number } {
  const pipe = join(directory, `pipe-${(pipes += 1)}`);
  execFileSync('mkfifo', [pipe]);
  const reading = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  return { reading, writing: openSync(pipe, constants.O_WRONLY | flags) };
}

interface Line {
  number?: number;
  lostLines?: number;
}

const buffer = Buffer.alloc(1 << 16);

/** Reads the bytes that wait in the pipe; an empty text if there are none. */
function readSome(reading: number): string {
  try {
    return buffer.toString('latin1', 0, readSync(reading, buffer));
  } catch (error) {
    expect(error).toMatchObject({ code: 'EAGAIN' });
    return '';
  }
}

async function readUntil(reading: number, isAll: (output: string) => boolean): Promise<string> {
  let output = '';
  await until(() => isAll((output += readSome(reading))));
  return output;
}

function linesOf(output: string): Line[] {
  return output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

it('a log is written to its end, or abandoned there when its disk is full, or its reader is gone or has stalled', async () => {
  const end = async (writing: number, text: string) => {
    const logger = createLogger('info', writing);
    logger.info(text);
    await endLog(logger);
  };
  const [read, gone, stalled] = [openPipe(), openPipe(), openPipe()];
  await end(read.writing, 'the last line');
  expect(readSome(read.reading)).toContain('the last line');
  closeSync(read.reading);
  closeSync(gone.reading);
  for (const writing of [openSync('/dev/full', 'w'), gone.writing, stalled.writing]) {
    await end(writing, 'x'.repeat(1_000_000));
  }
  // Otherwise the logger would try for ever, and this process would not end.
  await readUntil(stalled.reading, (output) => output.endsWith('}\n'));
});

test('an unread log takes at most 8 MB, and reports once how many lines it lost when it is read again', async () => {
  const { reading, writing } = openPipe(0);
  const logger = createLogger('info', writing);
  const text = 'x'.repeat(10_000);
  const written = 2_000;
  for (let number = 1; number <= written; number += 1) {
    logger.info({ number, text });
  }
  const lines = linesOf(
    await readUntil(reading, (output) => output.endsWith('}\n') && output.includes('"lostLines"')),
  );
  const kept = lines.filter(({ number }) => number !== undefined);
  const reports = lines.filter(({ lostLines }) => lostLines !== undefined);
  expect(reports).toHaveLength(1);
  expect(kept.length + reports[0]!.lostLines!).toBe(written);
  expect(kept.length).toBeGreaterThan(700);
  expect(kept.length * text.length).toBeLessThan(8 * 1024 * 1024);

  logger.info({ number: written + 1 });
  expect(linesOf(await readUntil(reading, (output) => output.endsWith('}\n')))).toMatchObject([
    { number: written + 1 },
  ]);
});
