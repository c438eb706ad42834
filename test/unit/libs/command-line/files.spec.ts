import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readInput, writeFile } from '../../../../libs/command-line/src/files';
import { OperatorError } from '#libs/messages';
import { useFolder } from '../../../support/files';

const folder = useFolder();
const path = (name: string) => join(folder, name);
const modeOf = (name: string) => statSync(path(name)).mode & 0o777;

afterEach(() => {
  jest.restoreAllMocks();
  readdirSync(folder).forEach((name) => rmSync(path(name), { recursive: true }));
});

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

  it('is where a link leads', async () => {
    writeFileSync(path('there'), '');
    symlinkSync('there', path('link'));
    await writeFile(path('link'), true, (write) => write('content'));
    expect(readdirSync(folder).sort()).toEqual(['link', 'there']);
    expect(readFileSync(path('there'), 'utf8')).toBe('content');
  });

  it('is where a link leads that leads to nothing yet, and not in place of a link in a circle', async () => {
    mkdirSync(path('folder'));
    symlinkSync('folder/there', path('link'));
    await writeFile(path('link'), false, (write) => write('content'));
    expect([readdirSync(folder), readdirSync(path('folder'))]).toEqual([['folder', 'link'], ['there']]);
    symlinkSync('circle', path('circle'));
    const failure = new OperatorError(`cannot open ${path('circle')}: too many symbolic links encountered.`);
    await expect(writeFile(path('circle'), true, () => Promise.resolve())).rejects.toEqual(failure);
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
      new OperatorError(`cannot write ${nowhere}: no such file or directory.`),
    );
  });
});

async function readAll(file: string) {
  const reported: (number | undefined)[][] = [];
  let text = '';
  const input = readInput(file, new AbortController().signal, (...numbers) => reported.push(numbers));
  for await (const chunk of input) {
    text += chunk.toString();
  }
  return { text, reported };
}

describe('a file that is read', () => {
  it('is read to its end, which is reported', async () => {
    writeFileSync(path('pets.ndjson'), 'abc');
    expect(await readAll(path('pets.ndjson'))).toEqual({ text: 'abc', reported: [[3, 3]] });
  });

  it('fails with the message of the system when it cannot be read', async () => {
    const missing = new OperatorError('cannot read nowhere.ndjson: no such file or directory.');
    await expect(readAll('nowhere.ndjson')).rejects.toEqual(missing);
    const isFolder = new OperatorError(`cannot read ${folder}: illegal operation on a directory.`);
    await expect(readAll(folder)).rejects.toEqual(isFolder);
  });
});
