import { digestOf, newApiKey } from '../../../src/modules/auth/api-key';
import { ClientsService, KeysService } from '../../../src/modules/auth';
import { agreedPlan } from '../../../src/modules/quotas';
import type { ApiClient } from '../../support/api-client';
import { type TestService, startService } from '../../support/service';
import { standing } from '../../support/limits';
import { until } from '../../support/eventually';

let here: TestService;
let there: TestService;

beforeAll(async () => {
  here = await startService();
  there = await startService({ database: here.database });
});
afterAll(async () => {
  await there.close();
  await here.close();
});

interface Known {
  key: string;
  keyId: number;
  client: string;
  callers: ApiClient[];
}

/** A key that both instances know by now. GET /rate-limit is never counted, so asking again and again does no harm. */
async function aKnownKey(plan = 'free'): Promise<Known> {
  const issued = await here.issueKey({ plan });
  const callers = [here, there].map((service) => service.anonymous().with({ 'X-API-Key': issued.key }));
  for (const caller of callers) {
    expect((await caller.get('/rate-limit')).status).toBe(200);
  }
  return { ...issued, callers };
}

function sql(text: string, ...values: unknown[]) {
  return here.database.pool.query(text, values);
}

async function allAnswer(callers: ApiClient[], status: number): Promise<boolean> {
  const answers = await Promise.all(callers.map((caller) => caller.get('/rate-limit')));
  return answers.every((answer) => answer.status === status);
}

describe('every instance soon refuses a key that was', () => {
  it.each([
    ['revoked', ({ keyId }: Known) => here.app.get(KeysService).revoke(keyId)],
    ['deleted with psql', ({ keyId }: Known) => sql(`DELETE FROM api_keys WHERE id = $1`, keyId)],
    [
      'made to expire',
      ({ keyId }: Known) => sql(`UPDATE api_keys SET expires_at = '2020-01-01' WHERE id = $1`, keyId),
    ],
    [
      'given another digest',
      ({ keyId }: Known) => sql(`UPDATE api_keys SET digest = 'x' WHERE id = $1`, keyId),
    ],
  ] as [string, (known: Known) => Promise<unknown>][])('%s', async (_how, change) => {
    const known = await aKnownKey();
    const bystander = await aKnownKey();
    await change(known);
    await until(() => allAnswer(known.callers, 401));
    expect(await allAnswer(bystander.callers, 200)).toBe(true);
  });
});

describe('every instance soon applies a change', () => {
  it.each([
    [
      'of the plan',
      ({ client }: Known) => here.app.get(ClientsService).setPlan(client, agreedPlan('pro')),
      300,
    ],
    [
      'of agreed limits',
      ({ client }: Known) => here.app.get(ClientsService).setPlan(client, agreedPlan('enterprise', 7, 9)),
      7,
    ],
  ] as [string, (known: Known) => Promise<unknown>, number][])('%s', async (_what, change, limit) => {
    const { callers, ...known } = await aKnownKey();
    await change({ callers, ...known });
    const limits = () => Promise.all(callers.map(async (caller) => (await standing(caller)).minute.limit));
    await until(async () => (await limits()).every((one) => one === limit));
  });

  it('of a scope', async () => {
    const { keyId, callers } = await aKnownKey('enterprise');
    await sql(`UPDATE api_keys SET scopes = '{write}' WHERE id = $1`, keyId);
    await until(async () => {
      const answers = await Promise.all(callers.map((caller) => caller.get('/categories')));
      return answers.every(({ status }) => status === 403);
    });
  });

  it('of an undone revocation, and of a key that was looked up before it existed', async () => {
    const { keyId, client, callers } = await aKnownKey();
    await here.app.get(KeysService).revoke(keyId);
    await until(() => allAnswer(callers, 401));
    await sql(`UPDATE api_keys SET revoked_at = NULL WHERE id = $1`, keyId);
    await until(() => allAnswer(callers, 200));

    const early = newApiKey();
    const hopeful = [here, there].map((service) => service.anonymous().with({ 'X-API-Key': early }));
    expect(await allAnswer(hopeful, 401)).toBe(true);
    await sql(
      `INSERT INTO api_keys (client_id, digest, last4, scopes) SELECT id, $1, '----', '{read}' FROM clients WHERE name = $2`,
      digestOf(early),
      client,
    );
    await until(() => allAnswer(hopeful, 200));
  });
});

it('a plan upgrade applies from the next request: refused requests used no quota', async () => {
  const { client, callers } = await aKnownKey();
  const caller = callers[0]!;
  for (let request = 0; request < 65; request += 1) await caller.get('/categories');
  await here.app.get(ClientsService).setPlan(client, agreedPlan('pro'));
  await until(async () => (await standing(caller)).minute.limit === 300);
  const answer = await caller.get('/categories');
  expect([answer.status, answer.headers.get('x-ratelimit-remaining')]).toEqual([200, '239']);
});
