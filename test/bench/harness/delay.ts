import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import type { CleanUp } from './clean-up';

/** Puts a database as many milliseconds away: whatever it answers arrives that much later. @returns its address there */
export async function putAway(databaseUrl: string, milliseconds: number, cleanUp: CleanUp): Promise<string> {
  const url = new URL(databaseUrl);
  const { hostname, port } = url;
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ host: hostname, port: Number(port), noDelay: true });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket
        .on('error', () => other.destroy())
        .on('close', () => sockets.delete(socket) && other.destroySoon());
    }
    near.pipe(far);
    // Timers of the same length go off in the order in which they were set.
    far.on('data', (chunk) => setTimeout(() => near.writable && near.write(chunk), milliseconds));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUp.add(async () => {
    sockets.forEach((socket) => socket.destroy());
    server.close();
    await once(server, 'close');
  });
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return url.href;
}
