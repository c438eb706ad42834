import { isUtf8 } from 'node:buffer';

/** A line by its number in the file, from 1: its text without the line end, or why it cannot be read. */
export type Line = { number: number; text: string } | { number: number; problem: string };

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
/** What may stand around the text of a line without being part of it. */
const AROUND_BYTES = BYTE_ORDER_MARK.length + 1;

/**
 * Cuts bytes into lines of UTF-8, as NDJSON has them, and hands them over in groups, one for each chunk that is read.
 * Lines end with LF or CRLF, the last one also with the end; a byte order mark at the beginning is left out. Empty
 * lines and lines of white space alone are counted and left out. Memory is bounded by a chunk and one line.
 * @param maxBytes a longer line is reported as a problem and never held in memory as a whole; so is one that is not UTF-8
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
  /** The beginning of a line whose end has not come yet. */
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
