import { Readable } from 'node:stream';
import fc from 'fast-check';
import { type Line, readLines } from '../../../src/modules/catalogue/read-lines';

const MAX = 8;

async function linesOf(...chunks: (string | Buffer)[]): Promise<Line[]> {
  const lines: Line[] = [];
  for await (const group of readLines(Readable.from(chunks.map((chunk) => Buffer.from(chunk))), MAX)) {
    lines.push(...group);
  }
  return lines;
}

const line = (number: number, text: string) => ({ number, text });
const tooLong = (number: number) => ({ number, problem: 'must be at most 8 bytes long.' });
const notUtf8 = (number: number) => ({ number, problem: 'must be UTF-8.' });

describe('lines', () => {
  it.each<[string, (string | Buffer)[], Line[]]>([
    ['end with LF', ['a\nb\n'], [line(1, 'a'), line(2, 'b')]],
    ['end with CRLF', ['a\r\nb\r\n'], [line(1, 'a'), line(2, 'b')]],
    ['end at the end of the file', ['a\nb'], [line(1, 'a'), line(2, 'b')]],
    ['have no byte order mark', ['\ufeffa\n\ufeffb'], [line(1, 'a'), line(2, '\ufeffb')]],
    ['are counted but skipped when empty', ['\n \r\n\t\na\n\n'], [line(4, 'a')]],
    ['do not exist in an empty file', [], []],
    ['may span chunks', ['a', 'b\r', '\nc'], [line(1, 'ab'), line(2, 'c')]],
    ['may be as long as allowed', ['\ufeff12345678\r\n12345678'], [line(1, '12345678'), line(2, '12345678')]],
    ['are reported when longer', ['123456789\nok\n12345', '6789'], [tooLong(1), line(2, 'ok'), tooLong(3)]],
    ['are measured in bytes', ['ääää\n', 'äääää'], [line(1, 'ääää'), tooLong(2)]],
    [
      'are reported when they are not UTF-8',
      [Buffer.from([0xff, 0x0a, 0xed, 0xa0, 0x80, 0x0a]), 'ok'],
      [notUtf8(1), notUtf8(2), line(3, 'ok')],
    ],
  ])('%s', async (_case, chunks, lines) => expect(await linesOf(...chunks)).toEqual(lines));

  it('are the same wherever the bytes were cut into chunks', async () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'ä', '\n', '\r', '\ufeff', '12345678'),
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(text, fc.array(fc.nat(80)), async (whole, cuts) => {
        const bytes = Buffer.from(whole);
        const places = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
        const chunks = places.slice(1).map((place, index) => bytes.subarray(places[index], place));
        expect(await linesOf(...chunks)).toEqual(await linesOf(bytes));
      }),
    );
  });

  it('that never end take no memory', async () => {
    const chunk = Buffer.alloc(1_000_000, 'x');
    const endless = (function* () {
      for (let sent = 0; sent < 200; sent += 1) {
        yield chunk;
      }
    })();
    const concat = jest.spyOn(Buffer, 'concat');
    const lines = [];
    for await (const group of readLines(Readable.from(endless), 64 * 1024)) {
      lines.push(...group);
    }
    const kept = concat.mock.calls.flatMap(([[before, next]]) => (next === chunk ? before!.length : []));
    concat.mockRestore();
    expect(lines).toEqual([{ number: 1, problem: 'must be at most 65536 bytes long.' }]);
    expect([kept.length, Math.max(...kept) < 66_000]).toEqual([200, true]);
  });
});
