import { isUtf8 } from 'node:buffer';

/** A line by its number in the file, from 1: its text without the line end, or why it cannot be read. */
export type Line = { number: number; text: string } | { number: number; problem: string };

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
/** Bytes around a line that do not count as text. */
const AROUND_BYTES = BYTE_ORDER_MARK.length + 1;

/**
 * Splits bytes into lines of UTF-8 (NDJSON) and yields them in groups, one for each chunk read. Lines end with LF, CRLF
 * or the end of the file; an initial byte order mark is removed. Blank lines are counted but skipped. Memory is bounded
 * by a chunk and one line.
 * @param maxBytes a longer line is reported as a problem without being held in memory; so is a line that is not UTF-8
 */
export async function* readLines(source: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Line[]> {
  let number = 0;
  const lineOf = (bytes: Buffer): Line => {
    number += 1;
    const content = withoutEnds(bytes, number === 1);
    if (content.length > maxBytes) {
      return { number, problem: `must be at most ${maxBytes} bytes long.` };
    }
    return isUtf8(content) ? { number, text: content.toString() } : { number, problem: 'must be UTF-8.' };
  };
  /** The beginning of an incomplete line: of one that is too long, no more than shows that. */
  let begun: Buffer = Buffer.alloc(0);
  for await (const chunk of source) {
    const bytes = Buffer.concat([begun, chunk]);
    const lines: Line[] = [];
    let from = 0;
    for (let to = bytes.indexOf(LINE_FEED); to !== -1; to = bytes.indexOf(LINE_FEED, from)) {
      lines.push(lineOf(bytes.subarray(from, to)));
      from = to + 1;
    }
    begun = bytes.subarray(from, from + maxBytes + AROUND_BYTES + 1);
    yield lines.filter(hasContent);
  }
  yield [lineOf(begun)].filter(hasContent);
}

function withoutEnds(bytes: Buffer, isFirst: boolean): Buffer {
  const from = isFirst && bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
  const to = bytes.at(-1) === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length;
  return bytes.subarray(from, Math.max(from, to));
}

function hasContent(line: Line): boolean {
  return !('text' in line) || line.text.trim() !== '';
}
