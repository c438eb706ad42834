import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';
import { databaseAddress } from './database-address';
import { within } from './eventually';

/** Stands between the service and its database, so that a test can take the database away and bring it back. */
export class TcpProxy {
  private readonly sockets = new Set<Socket>();
  private server: Server | null = null;
  private port = 0;
  private silent = false;
  private bytesLeft = Infinity;
  private whenSent: () => void = () => undefined;

  private constructor(private target: URL) {}

  /** @param url where the database is; `url` of the proxy is the same with the proxy's own address */
  static async start(url: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(new URL(url));
    await proxy.listen();
    return proxy;
  }

  get url(): string {
    const url = new URL(this.target);
    url.hostname = '127.0.0.1';
    url.port = String(this.port);
    return url.href;
  }

  /** Does something when so many more bytes have been sent to the database. */
  afterBytes(bytes: number, whenSent: () => void): void {
    this.bytesLeft = bytes;
    this.whenSent = whenSent;
  }

  /** Breaks every connection, and listens no more: connections are refused. */
  async refuse(): Promise<void> {
    const { server } = this;
    this.server = null;
    const closed = server && once(server, 'close');
    server?.close();
    this.breakConnections();
    await within('the end of the proxy', Promise.resolve(closed));
  }

  /** Keeps every connection, and accepts new ones, but passes nothing on: what a partitioned network does. */
  fallSilent(): void {
    this.silent = true;
    for (const socket of this.sockets) {
      socket.unpipe().pause();
    }
  }

  /** Everything is as it was, at the same address; connections that were silent are broken. */
  async restore(): Promise<void> {
    if (this.silent) {
      this.breakConnections();
    }
    this.silent = false;
    if (!this.server) {
      await this.listen();
    }
  }

  /** New connections lead to another server; those that are there stay. */
  moveTo(url: string): void {
    this.target = new URL(url);
  }

  async close(): Promise<void> {
    await this.refuse();
  }

  private breakConnections(): void {
    for (const socket of this.sockets) {
      socket.destroy();
    }
  }

  private async listen(): Promise<void> {
    this.server = createServer((client) => this.join(client));
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = (this.server.address() as AddressInfo).port;
  }

  private join(client: Socket): void {
    client.on('data', ({ length }: Buffer) => this.count(length));
    const upstream = connect(databaseAddress(this.target));
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.sockets.add(socket);
      socket.setNoDelay(true);
      if (!this.silent) {
        socket.pipe(other);
      }
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.sockets.delete(socket);
        other.destroy();
      });
    }
  }

  private count(bytes: number): void {
    const before = this.bytesLeft;
    this.bytesLeft -= bytes;
    if (before > 0 && this.bytesLeft <= 0) {
      this.whenSent();
    }
  }
}
