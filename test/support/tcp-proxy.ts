import { once } from 'node:events';
import { type NetConnectOpts, type Server, type Socket, connect, createServer } from 'node:net';
import { within } from './eventually';
import { freePort, listen } from './ports';

/** Stands between the service and its database, so that a test can take the database away and bring it back. */
export class TcpProxy {
  private readonly sockets = new Set<Socket>();
  private server: Server | null = null;
  private port = 0;
  private silent = false;

  private constructor(private target: URL) {}

  /** @param url of the database. The property `url` is the same URL with the address of the proxy. */
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

  /** Leads new connections to another database. The others stay as they are. */
  leadTo(url: string): void {
    this.target = new URL(url);
  }

  /** Breaks every connection and stops listening, so that new connections are refused. */
  async refuse(): Promise<void> {
    const { server } = this;
    this.server = null;
    const closed = server && once(server, 'close');
    server?.close();
    this.breakConnections();
    await within('the end of the proxy', Promise.resolve(closed));
  }

  /**
   * Keeps every connection and accepts new ones, but forwards nothing, like a partitioned network.
   * @param newOnes false if new connections work, as after another machine has taken over the address
   */
  fallSilent(newOnes = true): void {
    this.silent = newOnes;
    for (const socket of this.sockets) {
      socket.unpipe().pause();
    }
  }

  /** Listens and forwards again, at the same address. Connections that were silent are broken. */
  async restore(): Promise<void> {
    if (this.silent) {
      this.breakConnections();
    }
    this.silent = false;
    if (!this.server) {
      await this.listen();
    }
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
    this.server = createServer((downstream) => this.join(downstream));
    this.port ||= await freePort();
    await listen(this.server, this.port);
  }

  private join(downstream: Socket): void {
    const upstream = connect(addressOf(this.target));
    for (const [socket, other] of [
      [downstream, upstream],
      [upstream, downstream],
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
}

/** The address of a database, which may be a Unix socket. */
function addressOf({ hostname, port }: URL): NetConnectOpts {
  const host = decodeURIComponent(hostname);
  return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port: Number(port) };
}
