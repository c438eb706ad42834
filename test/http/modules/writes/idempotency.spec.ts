import { ClientsService } from '../../../../src/modules/auth';
import { type Category, type InventoryItem, type Order, type Pet, aPet } from '../../../support/builders';
import { until } from '../../../support/eventually';
import { useService, useStore } from '../../../support/use-service';
import { whileLocked } from '../../../support/disturbances';
import type { ErrorBody } from '../../../support/api-caller';

const { service, caller, arrange } = useStore();
const other = useService(() => ({ database: service.database }));
let keys = 0;
const newKey = () => ({ 'Idempotency-Key': `key ${(keys += 1)}` });
const withNewKey = () => caller.with(newKey());

const count = async (sql: string) =>
  Number((await service.database.pool.query<{ count: string }>(sql)).rows[0]!.count);

describe('the same Idempotency-Key and body', () => {
  const CASES: [path: string, body: (pet: Pet) => object, status: number][] = [
    ['/pets', ({ categoryId }) => aPet().build(categoryId), 201],
    ['/categories', () => ({ name: 'Kätzchen 🐈', description: 'Small' }), 201],
    ['/store/orders', ({ id: petId }) => ({ petId, shipDate: '2026-12-01T00:00:00Z' }), 201],
    ['/store/inventory/{petId}/adjustments', () => ({ delta: 3 }), 200],
  ];
  /** The number of events, which grows with every change of the store. */
  const events = () => count('SELECT count(*) FROM events');

  it.each(CASES)('POST %s: repeats the response, and runs once', async (template, bodyFor, status) => {
    const pet = await arrange.pet();
    const [path, body] = [template.replace('{petId}', String(pet.id)), bodyFor(pet)];
    const before = await events();
    const sender = withNewKey();
    const first = await sender.post(path, body);
    expect(first.status).toBe(status);
    expect(first.headers.has('idempotent-replayed')).toBe(false);
    const after = await events();
    expect(after).toBeGreaterThan(before);
    const again = await sender.post(path, body);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect([again.status, again.text]).toEqual([first.status, first.text]);
    for (const name of ['etag', 'location', 'content-type']) {
      expect([name, again.headers.get(name)]).toEqual([name, first.headers.get(name)]);
    }
    expect(await events()).toBe(after);
  });

  it.each(['/categories', '/store/inventory/1/adjustments', '/webhooks/1/test'])(
    'POST %s: comes before the conditions of a request, which the first one has made untrue',
    async (path) => {
      await arrange.pet();
      await caller.post('/webhooks', { url: 'https://shop.example/events', enabled: false });
      const body = { '/categories': { name: 'Dogs' }, '/store/inventory/1/adjustments': { delta: 1 } }[path];
      const own = newKey();
      const first = await caller.with(own).post(path, body);
      for (const [field, tag] of [
        ['If-Match', '"stale"'],
        ['If-None-Match', '*'],
      ] as const) {
        const again = await caller.with({ ...own, [field]: tag }).post(path, body);
        expect([again.status, again.text]).toEqual([first.status, first.text]);
        expect(again.headers.get('idempotent-replayed')).toBe('true');
      }
    },
  );

  it('belongs to the client: its other API keys can retry the request, and other clients send their own', async () => {
    const { key, client } = await service.issueKey();
    const { key: second } = await service.app.get(ClientsService).issueKey({ client });
    const { id } = await arrange.pet();
    const answers: unknown[] = [];
    for (const sender of [service.callerWith(key), service.callerWith(second), caller]) {
      const { body, headers } = await sender
        .with({ 'Idempotency-Key': 'the same' })
        .post<InventoryItem>(`/store/inventory/${id}/adjustments`, { delta: 1 });
      answers.push([body.quantity, headers.get('idempotent-replayed')]);
    }
    expect(answers).toEqual([
      [2, null],
      [2, 'true'],
      [3, null],
    ]);
  });
});

describe('an Idempotency-Key that is in use', () => {
  const REUSED = { code: 'idempotency_key_reused', status: 422 };
  const IN_PROGRESS = { code: 'idempotency_in_progress', status: 409 };

  it.each(['{"name":"Cats"}', '[]', ''])('422: with another body: %j', async (other) => {
    const sender = withNewKey();
    const first = await sender.post<Category>('/categories', { name: 'Dogs' });
    const refused = await sender.post('/categories', other);
    expect(refused.body).toMatchObject(REUSED);
    expect(refused.headers.has('idempotent-replayed')).toBe(false);
    const again = await sender.post<Category>('/categories', { name: 'Dogs' });
    expect(again.text).toBe(first.text);
  });

  it('is replayed for the same JSON value, however it is spaced and ordered', async () => {
    const sender = withNewKey();
    const first = await sender.post('/categories', '{"name":"Dogs","description":"caf\\u00e9"}');
    const again = await sender.post('/categories', '{ "description": "café",\n "name": "Dogs" }');
    expect(again).toMatchObject({ status: 201, text: first.text });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });

  it('422: on another path, even with the same body', async () => {
    const [{ id }, other] = [await arrange.pet(aPet(), 5), await arrange.pet(aPet(), 5)];
    const sender = withNewKey();
    await sender.post(`/store/inventory/${id}/adjustments`, { delta: 1 });
    expect((await sender.post(`/store/inventory/${other.id}/adjustments`, { delta: 1 })).body).toMatchObject(
      REUSED,
    );
    expect((await caller.get(`/store/inventory/${other.id}`)).body).toMatchObject({ quantity: 5 });
  });

  it('409: while the first request is running, on every instance, and the 409 is not stored', async () => {
    const { id: petId } = await arrange.pet(aPet(), 5);
    const [{ key }, own] = [await service.issueKey(), newKey()];
    const sender = service.callerWith(key).with(own);
    const elsewhere = other.callerWith(key).with(own);
    const { first } = await whileLocked(service.database.pool, petId, async () => {
      const running = sender.post<Order>('/store/orders', { petId });
      await untilClaimed();
      // The body of the first request is stored only at its end, so a request with another body gets the same error.
      for (const [one, quantity] of [
        [sender, 1],
        [sender, 2],
        [elsewhere, 1],
      ] as const) {
        const refused = await one.post('/store/orders', { petId, quantity });
        expect(refused.body).toMatchObject(IN_PROGRESS);
        expect(refused.headers.get('retry-after')).toBe('1');
      }
      return { first: running };
    });
    expect((await first).status).toBe(201);
    const third = await sender.post<Order>('/store/orders', { petId });
    expect(third).toMatchObject({ status: 201, text: (await first).text });
    expect(third.headers.get('idempotent-replayed')).toBe('true');
  });

  /** Waits until a request has claimed its Idempotency-Key with an advisory lock. */
  async function untilClaimed(): Promise<void> {
    // A lock with one key has the objsubid 1. The locks by which instances find each other have two keys, and the objsubid 2.
    const sql = `SELECT 1 FROM pg_locks JOIN pg_database ON pg_database.oid = database
      WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND datname = current_database()`;
    await until(async () => (await service.database.pool.query(sql)).rowCount! > 0);
  }
});

describe('an error under an Idempotency-Key', () => {
  it.each([
    ['409 insufficient_stock', 1, { delta: -3 }],
    ['404 pet_not_found', 1_000, { delta: 1 }],
  ])('%s is stored and replayed, even after its cause is gone', async (refusal, later, body) => {
    const { id } = await arrange.pet(aPet(), 2);
    const at = `/store/inventory/${id + later - 1}`;
    const post = (sent: object) => sender.post<ErrorBody>(`${at}/adjustments`, sent);
    const sender = withNewKey();
    const first = await post(body);
    expect(`${first.status} ${first.body.code}`).toBe(refusal);
    expect(first.headers.has('idempotent-replayed')).toBe(false);
    await service.database.pool.query('UPDATE inventory SET stock = 9 WHERE pet_id = $1', [id]);
    const again = await post(body);
    expect([again.status, again.text]).toEqual([first.status, first.text]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(['etag', 'location'].filter((name) => again.headers.has(name))).toEqual([]);
    expect((await post({ delta: 2 })).body).toMatchObject({ code: 'idempotency_key_reused', status: 422 });
  });

  const refusal = { code: 'validation_failed', message: 'name must be 1 to 200 characters.', status: 400 };
  it.each([
    ['400', '', 'KH3s7FoRBUHvZ3pGLFSeN8EXCNFjDZNOu4LV7pty1Ok', refusal],
    [
      '201 with a decomposed name',
      'Cafe\u0301',
      'hmVv0S58rl0GMRuvQkF9LnFodXTcWS12X_24UdsC4ho',
      { id: 7, name: 'Cafe\u0301' },
    ],
  ])('%s that an older version has stored is replayed', async (response, name, fingerprint, body) => {
    const { key, client } = await service.issueKey();
    const { rows } = await service.database.pool.query('SELECT id FROM clients WHERE name = $1', [client]);
    const { id } = rows[0] as { id: string };
    const [status, stored] = [parseInt(response), JSON.stringify(body)];
    const record = [`${id} of an older version`, fingerprint, status, stored];
    await service.database.pool.query('INSERT INTO idempotency_records VALUES ($1, $2, $3, $4)', record);
    // `fetch` sends the request, because a caller would check the answer against the document of this version, which has other header fields.
    const again = await fetch(`${service.url}/categories`, {
      method: 'POST',
      headers: {
        'X-API-Key': key,
        'Idempotency-Key': 'of an older version',
        'Content-Type': 'application/json',
      },
      body: JSON.stringify({ name }),
    });
    expect([again.status, await again.text()]).toEqual([status, stored]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });

  it('400, 403, 412 and 429 are not stored: who corrects the request uses the same key', async () => {
    const { key, client } = await service.issueKey({ scopes: ['read'] });
    const { key: writing } = await service.app.get(ClientsService).issueKey({ client });
    const [reader, writer] = [service.callerWith(key), service.callerWith(writing)];
    const limited = await service.caller({ perMinute: 1, perDay: 100 });
    await limited.get('/categories');
    const body = { name: 'Dogs' };
    for (const [status, refused, accepted, sent] of [
      [400, caller, caller, '[]'],
      [400, caller, caller, { ...body, colour: 'red' }],
      [403, reader, writer, body],
      [412, caller.with({ 'If-Match': '"stale"' }), caller, body],
      [429, limited, limited, body],
    ] as const) {
      const own = newKey();
      expect((await refused.with(own).post('/categories', sent)).status).toBe(status);
      if (status === 429) service.clock.advance(60_000);
      const later = await accepted.with(own).post('/categories', body);
      expect([later.status, later.headers.has('idempotent-replayed')]).toEqual([201, false]);
    }
  });

  it('500 is not stored: all of the work is rolled back, and a retry does it', async () => {
    const { pool } = service.database;
    const { id: petId } = await arrange.pet();
    const sender = withNewKey();
    await pool.query(
      `ALTER TABLE idempotency_records ADD CONSTRAINT broken CHECK (fingerprint = '') NOT VALID`,
    );
    const refused = await sender.post<Order>('/store/orders', { petId });
    await pool.query('ALTER TABLE idempotency_records DROP CONSTRAINT broken');
    expect((await caller.get(`/store/inventory/${petId}`)).body).toMatchObject({ quantity: 1 });
    expect((await caller.get(`/store/orders?petId=${petId}`)).body).toEqual([]);
    expect(refused.status).toBe(500);
    const later = await sender.post<Order>('/store/orders', { petId });
    expect([later.status, later.headers.has('idempotent-replayed')]).toEqual([201, false]);
  });
});

describe('an Idempotency-Key', () => {
  const create = (key: string, name = 'Dogs') =>
    caller.with({ 'Idempotency-Key': key }).post<Category>('/categories', { name });
  /** Makes a stored response older. Its age is measured by the clock of the database, which tests cannot move. */
  const age = (key: string, interval: string) =>
    service.database.pool.query(
      `UPDATE idempotency_records SET created_at = created_at - $2::interval WHERE name LIKE '% ' || $1`,
      [key, interval],
    );
  it('is kept for 24 hours, and then new, also for another body', async () => {
    const first = await create('expired');
    await age('expired', '23 hours 59 minutes');
    expect((await create('expired')).text).toBe(first.text);
    await age('expired', '1 minute');
    const second = await create('expired', 'Cats');
    expect([second.status, second.headers.has('idempotent-replayed')]).toEqual([201, false]);
    const third = await create('expired', 'Cats');
    expect([third.text, third.headers.get('idempotent-replayed')]).toEqual([second.text, 'true']);
  });

  it('is deleted once it has expired', async () => {
    for (const [key, interval] of [
      ['old', '24 hours'],
      ['young', '23 hours'],
    ] as const) {
      await create(key);
      await age(key, interval);
    }
    expect(await service.deleteExpired()).toBe(1);
    expect((await create('young')).headers.get('idempotent-replayed')).toBe('true');
  });

  it('may have 255 characters, and every printable one', async () => {
    const key = String.fromCharCode(...Array.from({ length: 94 }, (_, i) => i + 0x21)).padEnd(255, 'k');
    const first = await create(key);
    expect(first.status).toBe(201);
    expect((await create(key)).headers.get('idempotent-replayed')).toBe('true');
  });

  it.each([
    ['256 characters', 'k'.repeat(256)],
    ['a letter that is not ASCII', 'clé'],
  ])('400: may not have %s, and nothing is created', async (_, key) => {
    const categories = () => count('SELECT count(*) FROM categories');
    const before = await categories();
    const answer = (await create(key, 'Never')) as unknown as { body: ErrorBody };
    expect(answer.body).toMatchObject({ code: 'validation_failed', status: 400 });
    expect(answer.body.message).toContain('Idempotency-Key');
    expect(await categories()).toBe(before);
  });

  it('400: a body nested more deeply than can be compared', async () => {
    const deep = '['.repeat(20_000) + ']'.repeat(20_000);
    const { body } = await withNewKey().post<ErrorBody>('/categories', `{"name":${deep}}`);
    expect(body).toMatchObject({ code: 'validation_failed', status: 400 });
  });
});
