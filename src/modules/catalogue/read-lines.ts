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
  const cutter = new LineCutter(maxBytes);
  for await (const chunk of source) {
    yield cutter.cut(chunk);
  }
  yield cutter.end();
}

class LineCutter {
  private number = 0;
  /** The beginning of an incomplete line. */
  private begun: Buffer[] = [];
  private begunBytes = 0;
  private overlong = false;

  constructor(private readonly maxBytes: number) {}

  cut(chunk: Buffer): Line[] {
    const lines: Line[] = [];
    let from = 0;
    for (let to = chunk.indexOf(LINE_FEED); to !== -1; to = chunk.indexOf(LINE_FEED, from)) {
      this.finish(chunk.subarray(from, to), lines);
      from = to + 1;
    }
    this.begin(chunk.subarray(from));
    return lines;
  }

  end(): Line[] {
    const lines: Line[] = [];
    this.finish(Buffer.alloc(0), lines);
    return lines;
  }

  private begin(part: Buffer): void {
    this.begunBytes += part.length;
    this.overlong ||= this.begunBytes > this.maxBytes + AROUND_BYTES;
    if (this.overlong) {
      this.begun = [];
    } else if (part.length > 0) {
      this.begun.push(part);
    }
  }

  private finish(part: Buffer, lines: Line[]): void {
    this.number += 1;
    const bytes = this.begun.length === 0 ? part : Buffer.concat([...this.begun, part]);
    const line = this.overlong ? this.tooLong() : this.read(withoutEnds(bytes, this.number === 1));
    if (!('text' in line) || line.text.trim() !== '') {
      lines.push(line);
    }
    this.begun = [];
    this.begunBytes = 0;
    this.overlong = false;
  }

  private read(bytes: Buffer): Line {
    if (bytes.length > this.maxBytes) {
      return this.tooLong();
    }
    return isUtf8(bytes)
      ? { number: this.number, text: bytes.toString() }
      : { number: this.number, problem: 'must be UTF-8.' };
  }

  private tooLong(): Line {
    return { number: this.number, problem: `must be at most ${this.maxBytes} bytes long.` };
  }
}

function withoutEnds(bytes: Buffer, isFirst: boolean): Buffer {
  const from = isFirst && bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
  const to = bytes.at(-1) === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length;
  return bytes.subarray(from, Math.max(from, to));
}
