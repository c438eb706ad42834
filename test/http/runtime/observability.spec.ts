import { execFile } from 'node:child_process';
import type { Server } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { requestIdOf } from '../../../src/http/http-server';
import { DeliveryQueue } from '../../../src/modules/webhooks/delivery/delivery-queue';
import { createLogger } from '../../../src/runtime/logging';
import { announce } from '../../../src/runtime/announcement';
import { seedFirstRun } from '../../../src/store/seed';
import { aPet } from '../../support/builders';
import { eventually, until } from '../../support/eventually';
import { read } from '../../support/files';
import { call, earnBan } from '../../support/limits';
import { RawConnection, exchange, requestText } from '../../support/raw-http';
import { useService } from '../../support/use-service';

const service = useService({ settings: { metrics: { host: '127.0.0.1', port: 0 } } });
const other = useService();
/** Lines that belong to no request go to the log of the service that was started last. */
const lastLog = () => other.log.lines;

describe('the log line of a request', () => {
  /** The line of the request with this X-Request-Id. */
  function lineOf(reqId: string): Record<string, unknown> {
    const lines = service.log.lines.filter((line) => line.reqId === reqId);
    expect(lines).toHaveLength(1);
    return lines[0]!;
  }

  it('has the request, its result, its duration and the caller', async () => {
    const { key, keyId } = await service.issueKey();
    await service.callerWith(key).with({ 'X-Request-Id': 'known' }).get('/pets/12345');
    expect(lineOf('known')).toEqual({
      level: 30,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      reqId: 'known',
      method: 'GET',
      operation: '/pets/:petId',
      status: 404,
      ms: expect.any(Number) as number,
      clientId: expect.any(Number) as number,
      keyId,
      msg: 'request',
    });
  });

  const idOf = (given?: string | string[]) => requestIdOf({ headers: { 'x-request-id': given } } as never);

  it('has the X-Request-Id that was sent if it is valid, and a random id otherwise', () => {
    const valid = ['a', '0', 'A-b_c.D', 'x'.repeat(128)];
    expect(valid.map((id) => idOf(id))).toEqual(valid);
    const invalid = ['', ' ', 'a b', 'a/b', 'a:b', 'é', 'a\n', '"a"', 'x'.repeat(129), ['a'], ['a', 'b']];
    const random = [undefined, ...invalid].map((id) => idOf(id));
    expect(random.filter((id) => !/^[0-9a-f-]{36}$/.test(id))).toEqual([]);
    expect(new Set(random).size).toBe(random.length);
  });

  it('omits an unknown caller and an unknown path', async () => {
    await service.anonymous().with({ 'X-Request-Id': 'stranger' }).get('/secret-of-somebody');
    const line = lineOf('stranger');
    expect(['clientId', 'keyId'].filter((name) => name in line)).toEqual([]);
    expect(line).toMatchObject({ operation: 'unknown', status: 404 });
  });

  it('says of a caller that leaves before its response is sent that it did, without a status', async () => {
    const { key, keyId } = await service.issueKey();
    const remaining = async () =>
      (await service.callerWith(key).get('/rate-limit')).headers.get('x-ratelimit-remaining');
    const before = await remaining();
    const fields = [`X-API-Key: ${key}`, 'X-Request-Id: left'];
    const waiting = requestText('GET /events?cursor=now&wait=30', fields);
    const connection = await RawConnection.open(service.port, waiting);
    await until(async () => (await remaining()) !== before);
    connection.reset();
    await until(() => service.log.lines.some(({ reqId }) => reqId === 'left'));
    expect(lineOf('left')).toMatchObject({ operation: '/events', disconnected: true, keyId });
    expect(lineOf('left')).not.toHaveProperty('status');
  });

  it('has no key, body, path, query or header', async () => {
    const { key } = await service.issueKey();
    const SECRET = 'confidential';
    const caller = service.anonymous().with({ Authorization: `Bearer ${key}` });
    const before = service.log.lines.length;
    await caller.post('/pets', aPet().named(SECRET).build());
    await caller.post('/pets', `{"name": "${SECRET}`);
    await caller.get(`/pets?name=${SECRET}`);
    await caller.get(`/pets?cursor=${SECRET}&unknown=${key}`);
    await caller.get(`/${SECRET}/${key}`);
    await caller.with({ 'Idempotency-Key': SECRET, 'If-Match': SECRET, Cookie: SECRET }).delete('/pets/1');
    await caller.with({ Authorization: `Bearer ${key}x`, 'X-API-Key': `${SECRET}${key}` }).get('/pets');
    const nonsense = `GET /${key}/${SECRET} NONSENSE\r\n\r\n`;
    expect((await exchange(service.port, nonsense)).status).toBe(400);
    expect(service.log.lines.length).toBeGreaterThanOrEqual(before + 7);
    expect(service.log.lines.filter((line) => JSON.stringify(line).includes(SECRET))).toEqual([]);
    service.log.expectNoKeys();
  });

  it('that fails has the code, the table and the constraint of the database, and neither a row nor a value', async () => {
    const SECRET = 'confidential';
    const caller = await other.caller();
    const { pool } = other.database;
    const lineOfFailure = async () => {
      const answer = await caller.post('/categories', { name: SECRET, description: SECRET });
      expect(answer.status).toBe(500);
      const reqId = answer.headers.get('x-request-id');
      const line = other.log.lines.find((one) => one.reqId === reqId && one.level === 50);
      expect(line).toMatchObject({ operation: '/categories', code: 'internal_error', msg: 'request failed' });
      return line;
    };
    await pool.query(`ALTER TABLE categories ADD CONSTRAINT odd CHECK (name <> '${SECRET}')`);
    const err = { type: 'DatabaseError', code: '23514', table: 'categories', constraint: 'odd' };
    const message = expect.stringMatching(/violates check constraint "odd"$/) as string;
    expect(await lineOfFailure()).toMatchObject({ err: { ...err, message } });
    await pool.query(`ALTER TABLE categories DROP CONSTRAINT odd;
      CREATE FUNCTION odd() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM NEW.name::int; RETURN NEW; END';
      CREATE TRIGGER odd BEFORE INSERT ON categories FOR EACH ROW EXECUTE FUNCTION odd()`);
    expect(await lineOfFailure()).toMatchObject({ err: { code: '22P02' } });
    await pool.query(`CREATE OR REPLACE FUNCTION odd() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'not %', NEW.name USING ERRCODE = 'check_violation'; END $$`);
    expect(await lineOfFailure()).toMatchObject({ err: { code: '23514' } });
    await pool.query('DROP FUNCTION odd CASCADE');
    expect(other.log.lines.filter((line) => JSON.stringify(line).includes(SECRET))).toEqual([]);
  });
});

describe('the metrics', () => {
  type Labels = Record<string, string>;
  type Figures = (name: string, labels?: Labels) => number;
  const text = () => service.metrics!.metrics();

  /** Returns a function that sums all values of a metric with these labels. Without any, the sum is 0. */
  async function figures(): Promise<Figures> {
    const metrics = await service.metrics!.getMetricsAsJSON();
    const values = metrics.flatMap(({ name, values }) => values.map((one) => ({ metricName: name, ...one })));
    return (name, labels = {}) =>
      values
        .filter(({ metricName }) => metricName === name)
        .filter((one) =>
          Object.entries(labels).every(([label, value]) => String(one.labels[label]) === value),
        )
        .reduce((sum, { value }) => sum + value, 0);
  }

  /** Like `figures`, but each sum is the difference that the work has made. */
  async function changes(work: () => Promise<void>): Promise<Figures> {
    const before = await figures();
    await work();
    const after = await figures();
    return (name, labels) => after(name, labels) - before(name, labels);
  }

  it('count requests by operation, method and status, and never by path', async () => {
    const change = await changes(async () => {
      const caller = await service.caller();
      await caller.get('/categories');
      await caller.get('/categories?limit=5');
      await caller.get('/pets/424242');
      await caller.get('/secrets/of/somebody');
    });
    const counted = (labels: Labels) => change('petstore_http_request_duration_seconds_count', labels);
    const categories = { operation: '/categories', method: 'GET' };
    expect([counted(categories), counted({ ...categories, status: '200' })]).toEqual([2, 2]);
    expect(counted({ operation: '/pets/:petId', status: '404' })).toBe(1);
    expect(counted({ operation: 'unknown', status: '404' })).toBe(1);
    const all = { ...categories, le: '+Inf' };
    expect(change('petstore_http_request_duration_seconds_bucket', all)).toBe(2);
    expect(await text()).not.toMatch(/424242|secrets|psk_live_/);
  });

  it('count the decisions of the limiter, for clients and addresses', async () => {
    // Other tests of this file send requests from the same address.
    service.clock.advance(60_000);
    const change = await changes(async () => {
      const minute = await service.caller({ perMinute: 2, perDay: 100 });
      await call(minute, 2);
      await earnBan(minute, service);
      await call(minute, 2);
      const day = await service.caller({ perMinute: 100, perDay: 1 });
      await call(day, 2);
      await call(service.anonymous(), 61);
      await day.get('/rate-limit');
    });
    const decided = (subject: string) =>
      ['allowed', 'minute', 'day', 'banned'].map((decision) =>
        change('petstore_limiter_decisions_total', { subject, decision }),
      );
    expect([decided('client'), decided('address')]).toEqual([
      [3, 11, 1, 3],
      [60, 1, 0, 0],
    ]);
    service.clock.advance(60_000);
    const bans = ['1', '2'].map((level) => change('petstore_limiter_bans_total', { level }));
    expect(bans).toEqual([1, 0]);
  });

  it('lack the metric of the database while the database fails or is late, and the log says so once', async () => {
    const name = 'petstore_webhook_oldest_due_seconds';
    const value = new RegExp(`^${name} \\d`, 'm');
    const said = () => lastLog().filter(({ msg }) => String(msg).includes(name));
    const queue = service.app.get(DeliveryQueue);
    const answers = [
      () => Promise.reject(new Error('no database')),
      () => new Promise<number>(() => undefined),
    ];
    const messages = ['Error: no database', 'Error: no value within 1500 ms'];
    for (const [index, answer] of answers.entries()) {
      const read = jest.spyOn(queue, 'oldestDueSeconds').mockImplementation(answer);
      try {
        for (const page of [await text(), await text()]) {
          expect(page).not.toMatch(new RegExp(`^${name} `, 'm'));
          expect(page).toContain('petstore_http_connections ');
        }
        const { values } = (await service.metrics!.getMetricsAsJSON()).find((one) => one.name === name)!;
        expect(values).toEqual([]);
        expect(said().map(({ msg }) => msg)).toEqual(
          messages.slice(0, index + 1).map((message) => `The metric ${name} is missing: ${message}`),
        );
      } finally {
        read.mockRestore();
      }
      // On a busy machine, the next value may also come late.
      await eventually(async () => expect(await text()).toMatch(value));
    }
    expect((await service.anonymous().get('/health/live')).status).toBe(200);
  });

  it('measure a request that waits for events without its wait', async () => {
    const caller = await service.caller();
    let seconds = 0;
    const change = await changes(async () => {
      const since = performance.now();
      expect(await caller.get('/events?cursor=now&wait=1')).toMatchObject({ status: 200, body: [] });
      seconds = (performance.now() - since) / 1_000;
    });
    const ofEvents = (name: string) =>
      change(`petstore_http_request_duration_seconds_${name}`, { operation: '/events' });
    expect(ofEvents('count')).toBe(1);
    expect(ofEvents('sum')).toBeLessThan(seconds - 0.9);
  });

  it.each([
    ['completely', 201, (connection: RawConnection) => connection.write('ow"}')],
    ['in part', 400, (connection: RawConnection) => connection.end()],
  ])('measure a request that arrives slowly and %s without its arrival', async (_how, status, finish) => {
    const { key } = await service.issueKey();
    const fields = [`X-API-Key: ${key}`, 'Content-Type: application/json', 'Content-Length: 16'];
    let seconds = 0;
    const change = await changes(async () => {
      const since = performance.now();
      const connection = await RawConnection.open(
        service.port,
        requestText('POST /categories', fields, '{"name": "sl'),
      );
      await pause(1_000);
      finish(connection);
      expect(await connection.answer()).toMatchObject({ status });
      seconds = (performance.now() - since) / 1_000;
      connection.close();
    });
    const measured = (name: string) =>
      change(`petstore_http_request_duration_seconds_${name}`, {
        operation: '/categories',
        status: `${status}`,
      });
    expect(measured('count')).toBe(1);
    expect(measured('sum')).toBeLessThan(seconds - 0.9);
  });

  it('count connections that are closed for a limit, of which the log has one line a minute', async () => {
    const lines = () => service.log.lines.filter(({ reason }) => reason === 'total');
    const server = service.app.getHttpServer() as Server;
    const { maxConnections } = server;
    const open = await RawConnection.open(service.port);
    server.maxConnections = 1;
    for (let count = 1; count <= 2; count += 1) {
      await (await RawConnection.open(service.port)).closed();
      expect(await text()).toContain(`petstore_http_connections_refused_total{reason="total"} ${count}\n`);
      expect(lines()).toHaveLength(1);
    }
    server.maxConnections = maxConnections;
    open.close();
  });

  it('are exactly those that the dashboard and the alerts read', async () => {
    const used = (read('docker/prometheus/alerts.yaml') + read('docker/grafana/petstore.json')).match(
      /\bpetstore_\w+/g,
    )!;
    const names = used.map((name) => name.replace(/_(bucket|count|sum)$/, ''));
    const exported = [...(await text()).matchAll(/^# TYPE (petstore_\w+)/gm)].map(([, name]) => name);
    expect([...new Set(names)].sort()).toEqual(exported.sort());
  });

  it('have counters without any events, as 0', async () => {
    const page = await text();
    expect(page).toContain('petstore_limits_degraded 0\n');
    expect(page).toMatch(/^petstore_log_lines_lost_total \d+$/m);
    expect(page).toContain('petstore_limiter_bans_total{level="5"} 0\n');
  });
});

describe('GET /health/ready', () => {
  const ready = () => service.anonymous().get<object>('/health/ready');

  it('reports the checks, without a key and uncounted', async () => {
    const answer = await ready();
    const up = { status: 'up' };
    expect(answer).toMatchObject({
      status: 200,
      body: {
        status: 'ok',
        details: { database: up, migrations: up, limits: { ...up, degraded: false } },
      },
    });
    expect(answer.headers.get('x-ratelimit-remaining')).toBeNull();
  });

  it('is 503 while the database refuses to write, which leads to new connections until one can', async () => {
    const { pool, url } = service.database;
    const name = new URL(url).pathname.slice(1);
    await pool.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    await pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    await eventually(async () => {
      expect((await ready()).status).toBe(503);
      const reason = 'Not ready: database (it is read-only).';
      expect(lastLog()).toContainEqual(expect.objectContaining({ reason }));
    });
    await pool.query(
      `SET default_transaction_read_only = off; ALTER DATABASE ${name} RESET default_transaction_read_only`,
    );
    await eventually(async () => expect((await ready()).status).toBe(200));
  });
});

it('A database that is replaced by an empty one makes the service unready too, and without its tables or columns requests are answered with 503', async () => {
  const caller = await service.caller();
  const status = async (path: string) => (await caller.get(path)).status;
  const { pool } = service.database;
  await pool.query('ALTER SCHEMA public RENAME TO away; CREATE SCHEMA public');
  await eventually(async () => {
    expect(await caller.get('/health/ready')).toMatchObject({
      status: 503,
      body: { code: 'service_unavailable' },
    });
    const reason = expect.stringMatching(/^Not ready: migrations \(.*Schema1797000000000/) as string;
    expect(lastLog()).toContainEqual(expect.objectContaining({ reason }));
  });
  expect(await status('/pets')).toBe(503);
  await pool.query('DROP SCHEMA public; ALTER SCHEMA away RENAME TO public');
  await eventually(async () => expect(await status('/health/ready')).toBe(200));
  expect(await status('/pets')).toBe(200);
  // A newer version of the service may have renamed a column.
  await pool.query('ALTER TABLE pets RENAME COLUMN name TO title');
  expect(await status('/pets')).toBe(503);
  await pool.query('ALTER TABLE pets RENAME COLUMN title TO name');
  expect(await status('/pets')).toBe(200);
});

it('A first start on a terminal prints a key once, and a command that works', async () => {
  async function announced(): Promise<string> {
    let text = '';
    const output = { isTTY: true, write: (line: string) => (text += line) !== '' };
    const place = { host: '127.0.0.1', port: other.port };
    announce(place, await seedFirstRun(other.app, output), createLogger('silent', other.log), output);
    return text;
  }
  const text = await announced();
  expect(text.match(/^ {2}psk_live_\w{36}$/gm)).toHaveLength(1);
  const [command] = /^ +curl .+$/m.exec(text)!;
  const { stdout } = await promisify(execFile)('sh', ['-c', `${command} --silent --show-error`]);
  const [head = '', body = ''] = stdout.split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 200 /);
  expect(JSON.parse(body)).toHaveLength(3);
  expect(await announced()).not.toContain('psk_live_');
});
