import { once } from 'node:events';
import { type Socket, connect } from 'node:net';

/** Open connections that a test has to close again, as many as it likes. */
export class Flood {
  readonly sockets: Socket[] = [];

  constructor(private readonly port: number) {}

  /** Opens so many connections, a few hundred at a time, and writes these bytes on each. */
  async open(count: number, bytes: string | Buffer = ''): Promise<Socket[]> {
    const opened: Socket[] = [];
    while (opened.length < count) {
      const some = Array.from({ length: Math.min(250, count - opened.length) }, () => this.connect());
      await Promise.all(some.map((socket) => once(socket, 'connect')));
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
