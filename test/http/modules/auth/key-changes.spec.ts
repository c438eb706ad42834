import { digestOf, newApiKey } from '../../../../src/modules/auth/api-key';
import { ClientsService, KeysService } from '../../../../src/modules/auth';
import { QuotasService, agreedPlan } from '../../../../src/modules/quotas';
import type { ApiClient } from '../../../support/api-client';
import { until } from '../../../support/eventually';
import { standing } from '../../../support/limits';
import { type TestService, startService } from '../../../support/service';

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

const callersWith = (key: string) =>
  [here, there].map((service) => service.anonymous().with({ 'X-API-Key': key }));

/** A key that both instances know by now. GET /rate-limit is never counted, so asking again and again does no harm. */
async function aKnownKey(plan = 'free'): Promise<Known> {
  const issued = await here.issueKey({ plan });
  const callers = callersWith(issued.key);
  expect(await allAnswer(callers, 200)).toBe(true);
  return { ...issued, callers };
}

function sql(text: string, ...values: unknown[]) {
  return here.database.pool.query(text, values);
}

async function allAnswer(callers: ApiClient[], status: number, path = '/rate-limit'): Promise<boolean> {
  const answers = await Promise.all(callers.map((caller) => caller.get(path)));
  return answers.every((answer) => answer.status === status);
}

describe('every instance soon refuses a key that was', () => {
  it.each<[string, (known: Known) => Promise<unknown>]>([
    ['revoked', ({ keyId }) => here.app.get(KeysService).revoke(keyId)],
    ['deleted with psql', ({ keyId }) => sql(`DELETE FROM api_keys WHERE id = $1`, keyId)],
  ])('%s', async (_how, change) => {
    const [known, bystander] = [await aKnownKey(), await aKnownKey()];
    await change(known);
    await until(() => allAnswer(known.callers, 401));
    expect(await allAnswer(bystander.callers, 200)).toBe(true);
  });
});

describe('every instance soon applies', () => {
  it('a change of the plan, from the next request on: refused requests used no quota', async () => {
    const { client, callers } = await aKnownKey();
    const caller = callers[0]!;
    for (let request = 0; request < 65; request += 1) await caller.get('/categories');
    await here.app.get(ClientsService).setPlan(client, agreedPlan('pro'));
    const limits = () => Promise.all(callers.map(async (one) => (await standing(one)).minute.limit));
    await until(async () => (await limits()).every((limit) => limit === 300));
    const answer = await caller.get('/categories');
    expect([answer.status, answer.headers.get('x-ratelimit-remaining')]).toEqual([200, '239']);
  });

  it('a ban, and its end', async () => {
    const { keyId, callers } = await aKnownKey('enterprise');
    await here.app.get(QuotasService).ban(keyId);
    await until(() => allAnswer(callers, 403, '/categories'));
    await here.app.get(QuotasService).unban(keyId);
    await until(() => allAnswer(callers, 200, '/categories'));
  });

  it('an undone revocation, and a key that was looked up before it existed', async () => {
    const { keyId, client, callers } = await aKnownKey();
    await here.app.get(KeysService).revoke(keyId);
    await until(() => allAnswer(callers, 401));
    await sql(`UPDATE api_keys SET revoked_at = NULL WHERE id = $1`, keyId);
    await until(() => allAnswer(callers, 200));

    const early = newApiKey();
    const hopeful = callersWith(early);
    expect(await allAnswer(hopeful, 401)).toBe(true);
    await sql(
      `INSERT INTO api_keys (client_id, digest, last4, scopes) SELECT id, $1, '----', '{read}' FROM clients WHERE name = $2`,
      digestOf(early),
      client,
    );
    await until(() => allAnswer(hopeful, 200));
  });
});
