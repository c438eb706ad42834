import crypto from 'node:crypto';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openOutput } from '../../../src/cli/command/output-file';

const folder = mkdtempSync(join(tmpdir(), 'petstore-output-'));
const path = (name: string) => join(folder, name);
const modeOf = (name: string) => statSync(path(name)).mode & 0o777;

afterEach(() => jest.restoreAllMocks());
afterAll(() => rmSync(folder, { recursive: true }));

it('A file is only for its owner and has a name of its own until it is complete', async () => {
  const output = await openOutput(path('a'), false);
  await output.write('content');
  const [partial] = readdirSync(folder);
  expect(partial).toMatch(/^a\.[0-9a-f]{12}\.partial$/);
  expect(modeOf(partial!)).toBe(0o600);
  await output.complete();
  expect(readdirSync(folder)).toEqual(['a']);
  expect([readFileSync(path('a'), 'utf8'), modeOf('a')]).toEqual(['content', 0o666 & ~process.umask()]);
});

it('A secret file stays for its owner', async () => {
  const output = await openOutput(path('secret'), false, 0o600);
  await output.complete();
  expect(modeOf('secret')).toBe(0o600);
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
])('A %s of somebody else in its place is never written to', async (_what, put) => {
  const random = Buffer.alloc(6, _what);
  jest.spyOn(crypto, 'randomBytes').mockImplementation(() => random);
  const place = path(`b.${random.toString('hex')}.partial`);
  put(place);
  await expect(openOutput(path('b'), false)).rejects.toThrow(/file already exists/);
  expect(readFileSync(place, 'utf8')).toBe('mine');
});
