import { createReadStream, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { CommandFailure } from '../../../src/cli/command/failure';
import { openInput, readInput, writeFile } from '../../../src/cli/command/files';

const folder = mkdtempSync(join(tmpdir(), 'petstore-output-'));
const path = (name: string) => join(folder, name);
const modeOf = (name: string) => statSync(path(name)).mode & 0o777;

afterEach(() => {
  jest.restoreAllMocks();
  readdirSync(folder).forEach((name) => rmSync(path(name), { recursive: true }));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('a file that is written', () => {
  it('has a name of its own until it is complete', async () => {
    await writeFile(path('a'), false, async (write) => {
      await write('content');
      const [partial] = readdirSync(folder);
      expect(partial).toMatch(/^a\.[0-9a-f]{12}\.partial$/);
    });
    expect(readdirSync(folder)).toEqual(['a']);
    expect([readFileSync(path('a'), 'utf8'), modeOf('a')]).toEqual(['content', 0o666 & ~process.umask()]);
  });

  it('is not there if its work fails', async () => {
    const work = () => Promise.reject(new Error('no'));
    await expect(writeFile(path('never'), false, work)).rejects.toThrow('no');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('cannot replace a folder or be in none, and the message says so in one line', async () => {
    const written = (file: string) => writeFile(file, true, () => Promise.resolve());
    await expect(written(folder)).rejects.toThrow(/is not a file\. Use - for standard output\.$/);
    const nowhere = path('nowhere/x');
    await expect(written(nowhere)).rejects.toEqual(
      new CommandFailure(`cannot write ${nowhere}: no such file or directory.`),
    );
  });
});

async function read(stream: Readable, signal = new AbortController().signal) {
  const reported: (number | undefined)[][] = [];
  let text = '';
  const input = { name: 'pets.ndjson', stream, bytes: undefined };
  for await (const chunk of readInput(input, signal, (...numbers) => reported.push(numbers))) {
    text += chunk.toString();
  }
  return { text, reported };
}

describe('a file that is read', () => {
  it('has to be there and no folder, which is reported in one line', async () => {
    const missing = new CommandFailure('cannot read nowhere.ndjson: no such file or directory.');
    await expect(openInput('nowhere.ndjson')).rejects.toEqual(missing);
    await expect(openInput('.')).rejects.toEqual(new CommandFailure('. is a folder, not a file.'));
  });

  it('is read to its end, which is reported', async () => {
    const stream = Readable.from([Buffer.from('ab'), Buffer.from('c')]);
    expect(await read(stream)).toEqual({ text: 'abc', reported: [[2], [3], [3, 3]] });
  });

  it('fails with the message of the system when it cannot be read, and does not count as ended', async () => {
    const failure = new CommandFailure('cannot read pets.ndjson: illegal operation on a directory.');
    await expect(read(createReadStream(__dirname))).rejects.toEqual(failure);
  });
});
