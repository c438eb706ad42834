import crypto from 'node:crypto';
import {
  chmodSync,
  createReadStream,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { CommandFailure } from '../../../src/cli/command/command-failure';
import { readInput } from '../../../src/cli/command/input-file';
import { openOutput } from '../../../src/cli/command/output-file';

const folder = mkdtempSync(join(tmpdir(), 'petstore-output-'));
const path = (name: string) => join(folder, name);
const modeOf = (name: string) => statSync(path(name)).mode & 0o777;

afterEach(() => {
  jest.restoreAllMocks();
  readdirSync(folder).forEach((name) => rmSync(path(name), { recursive: true }));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('a file that is written', () => {
  it('is only for its owner and has a name of its own until it is complete', async () => {
    const output = await openOutput(path('a'), false);
    await output.write('content');
    const [partial] = readdirSync(folder);
    expect(partial).toMatch(/^a\.[0-9a-f]{12}\.partial$/);
    expect(modeOf(partial!)).toBe(0o600);
    await output.complete();
    expect(readdirSync(folder)).toEqual(['a']);
    expect([readFileSync(path('a'), 'utf8'), modeOf('a')]).toEqual(['content', 0o666 & ~process.umask()]);
  });

  it('stays for its owner if it is secret', async () => {
    const output = await openOutput(path('secret'), false, 0o600);
    await output.complete();
    expect(modeOf('secret')).toBe(0o600);
  });

  it('may be read by nobody who could not read the file that it replaces', async () => {
    for (const [before, mode, after] of [
      [0o600, 0o666, 0o600],
      [0o660, 0o666, 0o660],
      [0o644, 0o600, 0o600],
    ] as const) {
      writeFileSync(path('old'), 'old');
      chmodSync(path('old'), before);
      const output = await openOutput(path('old'), true, mode);
      await output.write('new');
      await output.complete();
      expect([readFileSync(path('old'), 'utf8'), modeOf('old')]).toEqual(['new', after]);
    }
  });

  it('does not replace a file that is created at the last moment', async () => {
    const output = await openOutput(path('late'), false);
    jest.spyOn((output as unknown as { handle: FileHandle }).handle, 'sync').mockImplementation(() => {
      writeFileSync(path('late'), 'mine');
      return Promise.resolve();
    });
    await expect(output.complete()).rejects.toThrow(/late already exists; --force/);
    await output.abandon();
    expect(readdirSync(folder)).toEqual(['late']);
    expect(readFileSync(path('late'), 'utf8')).toBe('mine');
  });

  it('cannot replace a folder, and the message names the way to standard output', async () => {
    await expect(openOutput(folder, true)).rejects.toThrow(/is not a file\. Use - for standard output\.$/);
  });

  it.each([
    ['file', (place: string) => writeFileSync(place, 'mine')],
    [
      'link',
      (place: string) => {
        writeFileSync(path('target'), 'mine');
        symlinkSync(path('target'), place);
      },
    ],
  ])('is never written to a %s of somebody else in its place', async (_what, put) => {
    const random = Buffer.alloc(6, _what);
    jest.spyOn(crypto, 'randomBytes').mockImplementation(() => random);
    const place = path(`b.${random.toString('hex')}.partial`);
    put(place);
    await expect(openOutput(path('b'), false)).rejects.toThrow(/file already exists/);
    expect(readFileSync(place, 'utf8')).toBe('mine');
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
  it('is read to its end, which is reported', async () => {
    const stream = Readable.from([Buffer.from('ab'), Buffer.from('c')]);
    expect(await read(stream)).toEqual({ text: 'abc', reported: [[2], [3], [3, 3]] });
  });

  it('fails with the message of the system when it cannot be read, and does not count as ended', async () => {
    const failure = new CommandFailure('cannot read pets.ndjson: illegal operation on a directory.');
    await expect(read(createReadStream(__dirname))).rejects.toEqual(failure);
  });

  it('is not reported as a system failure when it is aborted', async () => {
    const controller = new AbortController();
    controller.abort();
    const endless = new Readable({ read: () => undefined });
    await expect(read(endless, controller.signal)).rejects.toMatchObject({ name: 'AbortError' });
  });
});
