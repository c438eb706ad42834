import { scrypt } from 'node:crypto';
import { type Socket, createSocket } from 'node:dgram';
import { promises as dns } from 'node:dns';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Delivery } from '#libs/client';
import { DAY_MS } from '#libs/clock';
import { WebhookAdministrationService } from '../../../../src/modules/webhooks/webhook-administration.service';
import { isSignedBy, Receiver } from '../../../support/receiver';
import { eventually, until } from '../../../support/eventually';
import { useFolder } from '../../../support/files';
import { useStore } from '../../../support/use-service';
import { AddressPolicy } from '../../../../src/modules/webhooks/delivery/address-policy';
import { systemLookup } from '../../../../src/modules/webhooks/delivery/name-lookup';
import { Sender } from '../../../../src/modules/webhooks/delivery/sender';

describe('deliveries', () => {
  const { service, caller, arrange } = useStore();
  let receiver: Receiver;

  beforeEach(async () => {
    receiver = await Receiver.start();
  });

  const webhooks: { path: string }[] = [];
  afterEach(async () => {
    await Promise.all(webhooks.splice(0).map(({ path }) => caller.delete(path)));
    await receiver.stop();
  });

  /** Registers a webhook until the end of the test. By default, its only deliveries are test deliveries. */
  async function register(body: object = { types: ['pet.deleted'] }) {
    const { body: webhook } = await caller.post('/webhooks', { url: receiver.url, ...body });
    const { id, secret } = webhook as { id: number; secret: string };
    const registered = { id, secret, path: `/webhooks/${id}` };
    webhooks.push(registered);
    return registered;
  }

  /** Registers a webhook, and answers its first delivery so. */
  async function answered(...answer: Parameters<Receiver['answers']>) {
    const webhook = await register();
    receiver.answers(...answer);
    await caller.post(`${webhook.path}/test`);
    await attempted(webhook.path, 1);
    return webhook;
  }

  async function deliveries(path: string, query = ''): Promise<Delivery[]> {
    return (await caller.get(`${path}/deliveries${query}`)).body as Delivery[];
  }

  /** Waits until the only delivery has had this many attempts. */
  async function attempted(path: string, attempts: number): Promise<Delivery> {
    return eventually(async () => {
      const [delivery] = await deliveries(path);
      expect(delivery).toMatchObject({ attempts });
      return delivery!;
    });
  }

  it('sends events as the feed has them, signed with the secret', async () => {
    const webhook = await register({});
    const pet = await arrange.pet();

    const received = await eventually(() => {
      const found = receiver.ofType('pet.created').find(({ event }) => event.data.id === pet.id);
      expect(found).toBeDefined();
      return found!;
    });

    const feed = (await caller.get(`/events?type=pet.created&petId=${pet.id}`)).body as object[];
    expect(received.event).toEqual(feed[0]);
    expect(received.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': received.event.id,
      'webhook-timestamp': String(Math.floor(service.clock.now() / 1_000)),
    });
    expect(isSignedBy(webhook.secret, received)).toBe(true);
    await eventually(async () => {
      const found = (await deliveries(webhook.path)).find(({ eventId }) => eventId === received.event.id);
      expect(found).toMatchObject({ status: 'delivered', attempts: 1, responseStatus: 204 });
    });
  });

  it('sends only the types that the webhook subscribes to, and nothing while it is disabled', async () => {
    await register({ types: ['category.created'] });
    const disabled = await register({ enabled: false });
    await arrange.pet();
    const category = await arrange.category();
    const isThere = () => receiver.received.some(({ event }) => event.data.id === category.id);
    await until(isThere);

    expect(new Set(receiver.received.map(({ event }) => event.type))).toEqual(new Set(['category.created']));
    expect(await deliveries(disabled.path)).toEqual([]);
  });

  it('retries after the pause of the schedule, and gives up after the tenth attempt', async () => {
    const webhook = await answered(500);
    const { nextAttemptAt, ...delivery } = await attempted(webhook.path, 1);
    const wait = Date.parse(nextAttemptAt!) - service.clock.now();
    expect(delivery).toMatchObject({ status: 'pending', error: 'The response was 500.' });
    expect([wait >= 5_000, wait <= 5_500]).toEqual([true, true]);
    await service.database.pool.query(`UPDATE webhook_deliveries SET attempts = 9 WHERE webhook_id = $1`, [
      webhook.id,
    ]);
    service.clock.advance(wait);
    const last = await attempted(webhook.path, 10);

    expect(last).toMatchObject({ status: 'failed', responseStatus: 500 });
    expect(last).not.toHaveProperty('nextAttemptAt');
    expect(receiver.received).toHaveLength(2);

    // Nothing is sent while the webhook is disabled.
    await caller.patch(webhook.path, { enabled: false });
    expect(await service.app.get(WebhookAdministrationService).retryFailed(webhook.id)).toBe(1);
    const due = 'SELECT due_at FROM webhook_deliveries WHERE webhook_id = $1';
    expect((await service.database.pool.query(due, [webhook.id])).rows).toEqual([
      { due_at: new Date(service.clock.now()) },
    ]);
    await caller.patch(webhook.path, { enabled: true });
    const retry = await caller.post(`${webhook.path}/deliveries/${last.id}/retry`);
    expect(retry).toMatchObject({ status: 202, body: { id: last.id, status: 'pending', attempts: 0 } });
    await attempted(webhook.path, 1);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });

  it('410 disables the webhook, with the reason', async () => {
    const webhook = await answered(410);
    const disabled = { enabled: false, disabledReason: 'The receiver responded 410 Gone.' };
    await eventually(async () => expect((await caller.get(webhook.path)).body).toMatchObject(disabled));

    const pending = { status: 'pending', attempts: 1, responseStatus: 410 };
    expect(await attempted(webhook.path, 1)).toMatchObject(pending);
    expect(await attempted(webhook.path, 1)).not.toHaveProperty('nextAttemptAt');

    const { body } = await caller.patch(webhook.path, { enabled: true });
    expect(body).toMatchObject({ enabled: true });
    expect(body).not.toHaveProperty('disabledReason');
    expect(await attempted(webhook.path, 1)).toHaveProperty('nextAttemptAt');
  });

  it('of a deleted webhook are removed', async () => {
    const { pool } = service.database;
    const webhook = await register();
    const others = await register();
    await caller.post(`${webhook.path}/test`);
    await until(async () => (await deliveries(webhook.path, '?status=delivered')).length === 1);
    receiver.answers(500);
    await caller.post(`${webhook.path}/test`);
    await attempted(webhook.path, 1);
    await caller.post(`${others.path}/test`);
    await caller.delete(webhook.path);

    await service.deleteExpired();
    const of = [webhook.id, others.id];
    const sql = 'SELECT webhook_id AS id FROM webhook_deliveries WHERE webhook_id = ANY($1)';
    expect((await pool.query(sql, [of])).rows).toEqual([{ id: others.id }]);
  });

  it('503 with Retry-After: sends nothing until it has passed', async () => {
    const webhook = await answered(503, { 'Retry-After': '120' });
    receiver.answers(204);
    await caller.post(`${webhook.path}/test`);
    const other = await register();
    await caller.post(`${other.path}/test`);
    // A later delivery to another webhook shows that the paused webhook was passed over.
    await until(async () => (await deliveries(other.path))[0]?.status === 'delivered');

    expect(await deliveries(webhook.path, '?status=pending')).toHaveLength(2);
    service.clock.advance(120_000);
    await until(async () => (await deliveries(webhook.path, '?status=delivered')).length === 2);
  });

  it('a webhook whose deliveries have all failed for five days is disabled, with the reason; a success restarts them', async () => {
    const [webhook, lucky] = [await answered(500), await answered(204)];
    receiver.answers(500);
    service.clock.advance(4 * DAY_MS);
    await attempted(webhook.path, 2);
    expect((await caller.get(webhook.path)).body).toMatchObject({ enabled: true });
    await caller.post(`${lucky.path}/test`);
    await attempted(lucky.path, 1);
    service.clock.advance(DAY_MS);

    const disabled = { enabled: false, disabledReason: 'All deliveries failed for five days.' };
    await eventually(async () => expect((await caller.get(webhook.path)).body).toMatchObject(disabled));
    await attempted(lucky.path, 2);
    expect((await caller.get(lucky.path)).body).toMatchObject({ enabled: true });
  });

  it('after a rotation both secrets sign for 24 hours, then only the new one', async () => {
    const webhook = await register();
    const { body } = await caller.post(`${webhook.path}/secret`);
    const { secret: next } = body as { secret: string };
    await caller.post(`${webhook.path}/test`);
    await until(async () => (await deliveries(webhook.path, '?status=delivered')).length === 1);
    service.clock.advance(DAY_MS);
    await caller.post(`${webhook.path}/test`);
    await until(() => receiver.received.length === 2);

    const [during, after] = receiver.received;
    expect(next).not.toBe(webhook.secret);
    expect([webhook.secret, next].map((secret) => isSignedBy(secret, during!))).toEqual([true, true]);
    expect([webhook.secret, next].map((secret) => isSignedBy(secret, after!))).toEqual([false, true]);
  });
});

describe('the name of a receiver', () => {
  /** The sockets of all name servers that a test has started. */
  const servers: Socket[] = [];
  const folder = useFolder();

  /** Starts a name server with the IPv4 addresses of these names. Instead of an address, a name may have `failure` or `silence`. */
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

  afterEach(() => servers.splice(0).forEach((server) => server.close()));

  /** The lookup of a machine with this hosts file and resolv.conf. @param ports of name servers, one for each lookup */
  function machine({ hosts = '', resolver = '', ports = [1] }) {
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
    const resolver =
      'domain ignored.test\nsearch a.test B.test. .\noptions rotate ndots:3 # as in Kubernetes';
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
});
