import { exchange, requestText } from '../../support/raw-http';
import { Retention } from '#libs/database';
import type { ErrorBody } from '../../support/api-client';
import type { Category } from '../../support/builders';
import { useStore } from '../../support/use-service';

describe('an Idempotency-Key', () => {
  const { service, caller } = useStore();

  const create = (key: string, name = 'Dogs') =>
    caller.with({ 'Idempotency-Key': key }).post<Category>('/categories', { name });
  /** Lets time pass for what is kept; its age is measured by the database's own clock. */
  const age = (key: string, interval: string) =>
    service.database.pool.query(
      `UPDATE idempotency_records SET created_at = created_at - $2::interval WHERE key = $1`,
      [key, interval],
    );
  const keptKeys = async () => {
    const sql = 'SELECT key FROM idempotency_records ORDER BY key';
    return (await service.database.pool.query<{ key: string }>(sql)).rows.map(({ key }) => key);
  };

  it('is kept for 24 hours', async () => {
    const first = await create('day');
    await age('day', '23 hours 59 minutes');
    const again = await create('day');
    expect(again.text).toBe(first.text);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });

  it.each(['Dogs', 'Cats'])('is new after 24 hours, for %s as for any other body', async (name) => {
    const key = `expired ${name}`;
    const first = await create(key);
    await age(key, '24 hours');
    const second = await create(key, name);
    expect(second.status).toBe(201);
    expect(second.body.id).not.toBe(first.body.id);
    expect(second.headers.has('idempotent-replayed')).toBe(false);
    const third = await create(key, name);
    expect(third.text).toBe(second.text);
    expect(third.headers.get('idempotent-replayed')).toBe('true');
  });

  it('is deleted once it has expired', async () => {
    await service.database.pool.query('DELETE FROM idempotency_records');
    for (const key of ['old 1', 'old 2', 'old 3', 'young']) {
      await create(key);
    }
    await age('young', '23 hours');
    for (const key of ['old 1', 'old 2', 'old 3']) {
      await age(key, '24 hours');
    }
    const all = service.app.get<Retention, Retention>(Retention, { strict: false, each: true });
    const retention = all.find(({ options }) => options.table === 'idempotency_records');
    expect(await retention!.deleteOld()).toBe(3);
    expect(await keptKeys()).toEqual(['young']);
  });

  it.each([
    ['one character', '!'],
    ['255 characters', 'k'.repeat(255)],
    ['every printable character', String.fromCharCode(...Array.from({ length: 94 }, (_, i) => i + 0x21))],
    ['spaces inside', 'a b'],
    ['quotes and what looks like SQL', `"it's'; DROP TABLE pets; --"`],
  ])('may have %s', async (_, key) => {
    const first = await create(key);
    expect(first.status).toBe(201);
    expect((await create(key)).headers.get('idempotent-replayed')).toBe('true');
  });

  it.each([
    ['nothing', ''],
    ['256 characters', 'k'.repeat(256)],
    ['a letter that is not ASCII', 'clé'],
    ['a tab', 'a\tb'],
    ['a byte above 7F', '\xff'],
  ])('400: may not have %s, and nothing is created', async (_, key) => {
    const before = (await caller.get<Category[]>('/categories?limit=100')).body.length;
    const answer = (await create(key, 'Never')) as unknown as { body: ErrorBody };
    expect(answer.body).toMatchObject({ code: 'validation_failed', status: 400 });
    expect(answer.body.message).toContain('Idempotency-Key');
    expect((await caller.get<Category[]>('/categories?limit=100')).body).toHaveLength(before);
  });

  it('400: may not be given twice, and the message says so', async () => {
    const answer = await exchange(
      service.port,
      requestText(
        'POST /categories',
        [
          `X-API-Key: ${(await service.issueKey()).key}`,
          'Content-Type: application/json',
          'Content-Length: 12',
          'Idempotency-Key: one',
          'Idempotency-Key: two',
        ],
        '{"name":"A"}',
      ),
    );
    expect(JSON.parse(answer.text)).toMatchObject({
      status: 400,
      message: 'Idempotency-Key must be given once.',
    });
  });
});
