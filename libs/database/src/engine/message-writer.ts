// The messages that the engine sends, as PostgreSQL documents them in "Message Formats".

const { prepareValue } = require('pg/lib/utils') as { prepareValue: (value: unknown) => string | null };

const CODES = { parse: 0x50, bind: 0x42, describe: 0x44, execute: 0x45, close: 0x43, sync: 0x53 };
const PREPARED_STATEMENT = 0x53;
const PORTAL = 0x50;
const FIRST_SIZE = 8_192;
/** A buffer that has grown beyond this is not kept. */
const LARGE = 1_048_576;
/** Bytes of a UTF-16 unit in UTF-8, at most. */
const BYTES_OF_UNIT = 3;

/**
 * Writes messages one after the other into one buffer. The driver's serializer makes a buffer for each, which a step would have to
 * join: a tenth of a lone write. Values and results are texts.
 */
export class MessageWriter {
  private buffer = Buffer.allocUnsafeSlow(FIRST_SIZE);
  private end = 0;
  /** Where the length of the current message stands. */
  private start = 0;

  /** @param name of the prepared statement; undefined for the one without a name */
  parse(name: string | undefined, text: string): void {
    this.begin(CODES.parse);
    this.string(name ?? '');
    this.string(text);
    this.int16(0);
    this.finish();
  }

  /** @throws Error for a value that cannot be sent */
  bind(name: string | undefined, values: readonly unknown[]): void {
    this.begin(CODES.bind);
    this.string('');
    this.string(name ?? '');
    this.int16(0);
    this.int16(values.length);
    for (const value of values) {
      this.value(typeof value === 'string' ? value : prepareValue(value));
    }
    this.int16(0);
    this.finish();
  }

  describe(): void {
    this.begin(CODES.describe);
    this.byte(PORTAL);
    this.string('');
    this.finish();
  }

  execute(): void {
    this.begin(CODES.execute);
    this.string('');
    this.int32(0);
    this.finish();
  }

  close(name: string): void {
    this.begin(CODES.close);
    this.byte(PREPARED_STATEMENT);
    this.string(name);
    this.finish();
  }

  sync(): void {
    this.begin(CODES.sync);
    this.finish();
  }

  /** @returns all messages since the last time, as a copy: the socket may still send them when the next are written */
  take(): Buffer {
    const messages = Buffer.from(this.buffer.subarray(0, this.end));
    this.clear();
    return messages;
  }

  clear(): void {
    this.end = 0;
    if (this.buffer.length > LARGE) {
      this.buffer = Buffer.allocUnsafeSlow(FIRST_SIZE);
    }
  }

  private begin(code: number): void {
    this.byte(code);
    this.start = this.end;
    this.int32(0);
  }

  /** A message's length counts itself, and not its code. */
  private finish(): void {
    this.buffer.writeInt32BE(this.end - this.start, this.start);
  }

  private value(text: string | null): void {
    if (text === null) {
      this.int32(-1);
      return;
    }
    const at = this.end;
    this.int32(0);
    this.text(text);
    this.buffer.writeInt32BE(this.end - at - 4, at);
  }

  private string(text: string): void {
    this.text(text);
    this.byte(0);
  }

  private text(text: string): void {
    this.reserve(text.length * BYTES_OF_UNIT);
    this.end += this.buffer.write(text, this.end, 'utf8');
  }

  private int32(value: number): void {
    this.reserve(4);
    this.end = this.buffer.writeInt32BE(value, this.end);
  }

  private int16(value: number): void {
    this.reserve(2);
    this.end = this.buffer.writeUInt16BE(value, this.end);
  }

  private byte(value: number): void {
    this.reserve(1);
    this.end = this.buffer.writeUInt8(value, this.end);
  }

  private reserve(bytes: number): void {
    const needed = this.end + bytes;
    if (needed > this.buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.buffer.length * 2));
      this.buffer.copy(larger, 0, 0, this.end);
      this.buffer = larger;
    }
  }
}
