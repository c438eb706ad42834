import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { within } from './eventually';

export interface RawAnswer {
  status: number;
  /** The header fields by lower-case name. If a name was sent twice, its values are joined by a comma. */
  headers: Record<string, string>;
  text: string;
}

/** A connection on which a test writes every byte itself, and reads one answer after the other. */
export class RawConnection {
  private received = Buffer.alloc(0);
  /** True if the other side has ended the connection, or the connection is lost. */
  private ended = false;
  private wake: () => void = () => undefined;

  private constructor(private readonly socket: Socket) {
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      this.received = Buffer.concat([this.received, chunk]);
      this.wake();
    });
    for (const event of ['end', 'close']) {
      socket.on(event, () => {
        this.ended = true;
        this.wake();
      });
    }
  }

  /** @param bytes that are written as soon as the connection is open */
  static async open(port: number, bytes: string | Buffer = ''): Promise<RawConnection> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const connection = new RawConnection(socket);
    await within(`a connection to port ${port}`, once(socket, 'connect'));
    connection.write(bytes);
    return connection;
  }

  write(bytes: string | Buffer): void {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** Stops reading. */
  pause(): void {
    this.socket.pause();
  }

  /** Closes the sending side only. */
  end(): void {
    this.socket.end();
  }

  close(): void {
    this.socket.destroy();
  }

  /** Resets the connection, so that all data that was not yet read is lost. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  /** Reads the next answer. An interim answer (1xx) is an answer of its own. */
  answer(options: { method?: string } = {}): Promise<RawAnswer> {
    return this.until(() => this.takeAnswer(options.method ?? 'GET'), 'an answer');
  }

  /** Waits until the other side has closed the connection. If a test has not read everything, this throws. */
  async closed(): Promise<void> {
    await this.until(() => this.ended || null, 'the end of the connection');
    this.socket.destroy();
    if (this.received.length > 0) {
      throw new Error(`There is more on the connection: ${this.received.toString('latin1')}`);
    }
  }

  private async until<Result>(take: () => Result | null, what: string): Promise<Result> {
    for (;;) {
      const result = take();
      if (result !== null) {
        return result;
      }
      if (this.ended) {
        const got = JSON.stringify(this.received.toString('latin1'));
        throw new Error(`Waited for ${what}, got ${got} and the connection closed`);
      }
      await within(what, new Promise<void>((resolve) => (this.wake = resolve)));
    }
  }

  private takeAnswer(method: string): RawAnswer | null {
    const headEnd = this.received.indexOf('\r\n\r\n');
    if (headEnd === -1) {
      return null;
    }
    const [statusLine = '', ...lines] = this.received.subarray(0, headEnd).toString('latin1').split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
    const headers = headersOf(lines);
    const bodyless = method === 'HEAD' || status < 200 || status === 204 || status === 304;
    const length = bodyless ? 0 : Number(headers['content-length'] ?? NaN);
    if (Number.isNaN(length)) {
      throw new Error(`An answer without a length: ${statusLine} ${lines.join(' | ')}`);
    }
    const end = headEnd + 4 + length;
    if (this.received.length < end) {
      return null;
    }
    const text = this.received.subarray(headEnd + 4, end).toString('utf8');
    this.received = this.received.subarray(end);
    return { status, headers, text };
  }
}

function headersOf(lines: string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [name = '', ...value] = line.split(':');
    const key = name.toLowerCase();
    headers[key] = [headers[key], value.join(':').trim()].filter((text) => text !== undefined).join(', ');
  }
  return headers;
}

/** Sends these bytes on a new connection and reads one answer. */
export async function exchange(port: number, bytes: string | Buffer, method?: string): Promise<RawAnswer> {
  const connection = await RawConnection.open(port, bytes);
  try {
    return await connection.answer({ method });
  } finally {
    connection.close();
  }
}

/** A request as text. Each field is a line, and is written as it is. */
export function requestText(line: string, fields: string[] = [], body = ''): string {
  return `${[`${line} HTTP/1.1`, 'Host: test', ...fields].join('\r\n')}\r\n\r\n${body}`;
}
