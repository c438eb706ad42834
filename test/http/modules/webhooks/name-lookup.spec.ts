import { scrypt } from 'node:crypto';
import { type Socket, createSocket } from 'node:dgram';
import { promises as dns } from 'node:dns';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AddressPolicy } from '../../../../src/modules/webhooks/delivery/address-policy';
import { systemLookup } from '../../../../src/modules/webhooks/delivery/name-lookup';
import { Sender } from '../../../../src/modules/webhooks/delivery/sender';
import { until } from '../../../support/eventually';
import { Receiver } from '../../../support/receiver';

/** Name servers by their port, and what each was asked for. */
const servers: Socket[] = [];
let folder: string;

/** One that knows IPv4 addresses of names; to what it fails or leaves unanswered it says so. */
async function nameServer(names: Record<string, string>) {
  const asked: string[] = [];
  const server = createSocket('udp4', (query, { port }) => {
    const labels: string[] = [];
    let at = 12;
    for (; query[at] !== 0; at += query[at]! + 1) {
      labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!));
    }
    const name = labels.join('.').toLowerCase();
    const isIPv4 = query.readUInt16BE(at + 1) === 1;
    asked.push(...(isIPv4 ? [name] : []));
    const known = names[name];
    if (known === 'silence') return;
    const response = Buffer.from(query.subarray(0, at + 5));
    response.writeUInt16BE(known === 'failure' ? 0x8182 : known === undefined ? 0x8183 : 0x8180, 2);
    response.fill(0, 6, 12);
    const isFound = known !== undefined && known !== 'failure' && isIPv4;
    const address = isFound ? known.split('.').map(Number) : [];
    const record = isFound ? [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address] : [];
    response[7] = isFound ? 1 : 0;
    server.send(Buffer.concat([response, Buffer.from(record)]), port);
  });
  servers.push(server.bind(0, '127.0.0.1'));
  await once(server, 'listening');
  return { port: server.address().port, asked };
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'petstore-names-'));
});
afterEach(() => {
  servers.splice(0).forEach((server) => server.close());
  rmSync(folder, { recursive: true });
});

/** What a machine knows. @param ports name servers, for each lookup the next one */
function machine({
  hosts = '',
  resolver = '',
  ports = [1],
}: {
  hosts?: string;
  resolver?: string;
  ports?: number[];
}) {
  const files = { hosts: join(folder, 'hosts'), resolver: join(folder, 'resolv.conf') };
  writeFileSync(files.hosts, hosts);
  writeFileSync(files.resolver, resolver);
  const resolvers: dns.Resolver[] = [];
  const find = systemLookup(files.hosts, files.resolver, () => {
    const asking = new dns.Resolver({ timeout: 60_000, tries: 1 });
    resolvers.push(asking);
    asking.setServers([`127.0.0.1:${ports.length > 1 ? ports.shift()! : ports[0]!}`]);
    return asking;
  });
  const addresses = async (name: string) =>
    find(name).then(
      (found) => found.map(({ address }) => address).join(' '),
      ({ code }: NodeJS.ErrnoException) => code,
    );
  return { find, addresses, files, cancel: () => resolvers.forEach((one) => one.cancel()) };
}

it('The hosts file comes first, with all its spellings, and counts as soon as it changes', async () => {
  const { port } = await nameServer({ 'shop.test': '10.0.0.9' });
  const hosts = `# 10.0.0.1 shop.test\n10.0.0.2\tprinter SHOP.test # the shop\n::2 shop.test\nnonsense shop.test\r\n`;
  const { addresses, files } = machine({ hosts, ports: [port] });
  expect(await addresses('shop.test')).toBe('10.0.0.2 ::2');
  expect(await addresses('printer.')).toBe('10.0.0.2');
  writeFileSync(files.hosts, '10.0.0.3 other\n');
  expect(await addresses('shop.test')).toBe('10.0.0.9');
});

it.each([
  [
    'a name with fewer dots than ndots: below the domains first',
    'hook.default',
    'hook.default.a.test hook.default.b.test hook.default',
  ],
  ['a name with enough dots: as it is first', 'x.y.z.w', 'x.y.z.w x.y.z.w.a.test x.y.z.w.b.test'],
  ['a name that ends with a dot: as it is only', 'hook.', 'hook'],
])('Search domains: %s', async (_rule, name, expected) => {
  const { port, asked } = await nameServer({});
  const resolver = 'domain ignored.test\nsearch a.test B.test. .\noptions rotate ndots:3 # as in Kubernetes';
  expect(await machine({ resolver, ports: [port] }).addresses(name)).toBe('ENOTFOUND');
  expect(asked.join(' ')).toBe(expected);
});

it('The first search domain that has the name wins, also after one whose server fails', async () => {
  const names = { 'hook.a.test': 'failure', 'hook.b.test': '10.0.0.4' };
  const { port } = await nameServer(names);
  expect(await machine({ resolver: 'search a.test b.test', ports: [port] }).addresses('hook')).toBe(
    '10.0.0.4',
  );
});

it('localhost and names below it are this machine, whatever anybody says', async () => {
  const { addresses } = machine({ hosts: '10.0.0.1 localhost a.localhost' });
  for (const name of ['localhost', 'localhost.', 'a.localhost']) {
    expect(await addresses(name)).toBe('127.0.0.1 ::1');
  }
});

it('A name server that is replaced is asked from the next lookup on', async () => {
  const [old, next] = [await nameServer({}), await nameServer({ 'shop.test': '10.0.0.5' })];
  const { addresses } = machine({ ports: [old.port, next.port] });
  expect([await addresses('shop.test'), await addresses('shop.test')]).toEqual(['ENOTFOUND', '10.0.0.5']);
});

it('The failure of a name server is not blamed on the receiver', async () => {
  const { port } = await nameServer({ 'shop.test': 'failure' });
  const policy = new AddressPolicy(['127.0.0.0/8']);
  const failureWith = async (ports: number[], name: string) => {
    const sender = new Sender(policy, machine({ ports }).find);
    const { error } = await sender.send({ url: `http://${name}:8080/`, headers: {}, body: '{}' });
    sender.close();
    return error;
  };
  const failed = 'The name in the URL could not be looked up.';
  expect(await failureWith([port], 'shop.test')).toBe(failed);
  expect(await failureWith([1], 'shop.test')).toBe(failed);
  expect(await failureWith([port], 'unknown.test')).toBe('The name in the URL has no address.');
});

it('Many names whose servers are silent delay neither other names nor files and cryptography', async () => {
  const silent = Array.from({ length: 100 }, (_none, index) => `silent-${index}.test`);
  const names = Object.fromEntries(silent.map((name) => [name, 'silence']));
  const { port, asked } = await nameServer({ ...names, 'shop.test': '10.0.0.6' });
  const { addresses, cancel } = machine({ ports: [port] });
  let ended = 0;
  const waiting = silent.map((name) =>
    addresses(name).then((code) => void (ended += code === 'ELOOKUP' ? 1 : 0)),
  );
  await until(() => asked.length >= silent.length);
  expect(await addresses('shop.test')).toBe('10.0.0.6');
  await Promise.all([readFile(__filename), promisify(scrypt)('x', 'y', 16)]);
  expect(ended).toBe(0);
  cancel();
  await Promise.all(waiting);
  expect(ended).toBe(silent.length);
});

it.each(['localhost', 'LOCALHOST.', 'shop.localhost', '127.0.0.1', '0x7f.1'])(
  'http://%s is delivered to, with its name as the host, where the network is allowed',
  async (host) => {
    const receiver = await Receiver.start();
    const sender = new Sender(new AddressPolicy(['127.0.0.0/8']));
    const { port } = new URL(receiver.url);
    const url = `http://${host}:${port}/`;
    expect(await sender.send({ url, headers: {}, body: '{}' })).toMatchObject({ status: 204 });
    expect(receiver.received[0]!.headers.host).toBe(new URL(url).host);
    sender.close();
    await receiver.stop();
  },
);
