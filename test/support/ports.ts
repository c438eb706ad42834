import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, type Server, createServer } from 'node:net';

/** The range is below the ports that the system gives to programs that ask for any port, and `fetch` blocks no port of the range. */
const PORTS = { first: 11_000, count: 20_000 };
/** Begins at random, so that test files that run at the same time take different ports. */
let next = randomInt(PORTS.count);

/** A free port, which no other program takes before a server listens on it, nor while that server is stopped. */
export async function freePort(): Promise<number> {
  next = (next + 1) % PORTS.count;
  const port = PORTS.first + next;
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return freePort();
  }
  server.close();
  await once(server, 'close');
  return port;
}

/** Makes a server listen on a loopback address, by default on a free port. @returns the port */
export async function listen(server: Server, port = 0): Promise<number> {
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}
