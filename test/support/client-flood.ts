import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { within } from './eventually';

/** Open connections that a test has to close again, as many as it likes. */
export class Flood {
  readonly sockets: Socket[] = [];

  /**
   * @param accepted resolves when the server has accepted what was opened before. When too many wait for that, the system
   * drops some, which stay open on this side for good.
   */
  constructor(
    private readonly port: number,
    private readonly accepted: () => Promise<unknown> = () => Promise.resolve(),
  ) {}

  /** Opens so many connections, a few hundred at a time, and writes these bytes on each. */
  async open(count: number, bytes: string | Buffer = ''): Promise<Socket[]> {
    const opened: Socket[] = [];
    while (opened.length < count) {
      const some = Array.from({ length: Math.min(250, count - opened.length) }, () => this.connect());
      const connected = Promise.all(some.map((socket) => once(socket, 'connect')));
      await within(`${some.length} connections after ${opened.length}`, connected);
      await within(`their being accepted after ${opened.length}`, this.accepted());
      some.forEach((socket) => bytes.length > 0 && socket.write(bytes));
      opened.push(...some);
    }
    return opened;
  }

  close(): void {
    this.sockets.forEach((socket) => socket.destroy());
  }

  private connect(): Socket {
    const socket = connect(this.port, '127.0.0.1');
    socket.on('error', () => undefined);
    this.sockets.push(socket);
    return socket;
  }
}
