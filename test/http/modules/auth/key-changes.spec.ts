import { digestOf, newApiKey } from '../../../../src/modules/auth/api-key';
import { ClientsService, KeysService } from '../../../../src/modules/auth';
import { agreedPlan } from '../../../../src/modules/quotas';
import type { ApiClient } from '../../../support/api-client';
import { eventually, until } from '../../../support/eventually';
import { limitsIn, standing, without } from '../../../support/limits';
import { useInstances } from '../../../support/use-service';

const services = useInstances({}, {});
const here = services[0]!;
// Whoever is refused while a key is not known yet, or any more, uses up the requests of the address.
beforeEach(() => services.forEach(({ clock }) => clock.advance(60_000)));

interface Known {
  key: string;
  keyId: number;
  client: string;
  callers: ApiClient[];
}

const callersWith = (key: string) => services.map((service) => service.callerWith(key));

/** A key that both instances know by now. GET /rate-limit is never counted, so asking again and again does no harm. */
async function aKnownKey(plan = 'free'): Promise<Known> {
  const issued = await here.issueKey({ plan });
  const callers = callersWith(issued.key);
  await allGet(200, callers);
  return { ...issued, callers };
}

function sql(text: string, ...values: unknown[]) {
  return here.database.pool.query(text, values);
}

/** Each asks until it is answered so. */
function allGet(status: number, callers: ApiClient[], path = '/rate-limit'): Promise<unknown> {
  return Promise.all(callers.map((caller) => until(async () => (await caller.get(path)).status === status)));
}

describe('every instance soon refuses a key that was', () => {
  it.each<[string, (known: Known) => Promise<unknown>]>([
    ['revoked', ({ keyId }) => here.app.get(KeysService).revoke(keyId)],
    ['of a client that is deleted', ({ client }) => here.app.get(ClientsService).remove(client)],
    [
      'of a client that was deleted while it was issued',
      ({ client }) => sql(`UPDATE clients SET deleted_at = now() WHERE name = $1`, client),
    ],
    ['deleted with psql', ({ keyId }) => sql(`DELETE FROM api_keys WHERE id = $1`, keyId)],
  ])('%s', async (_how, change) => {
    const [known, bystander] = [await aKnownKey(), await aKnownKey()];
    await change(known);
    await allGet(401, known.callers);
    for (const caller of bystander.callers) expect((await caller.get('/rate-limit')).status).toBe(200);
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

  it('other scopes, another name and another expiry', async () => {
    const { keyId, callers } = await aKnownKey();
    const expiresAt = new Date('2099-01-01T00:00:00Z');
    await here.app.get(KeysService).update(keyId, { name: 'price list', scopes: ['read'], expiresAt });
    const key = { name: 'price list', scopes: ['read'], expiresAt: expiresAt.toISOString() };
    for (const caller of callers) {
      await eventually(async () => expect((await caller.get('/key')).body).toMatchObject(key));
      expect((await caller.post('/categories', { name: 'Dogs' })).status).toBe(403);
    }
  });

  it('a key that was looked up before it existed', async () => {
    const { client } = await here.issueKey();
    const early = newApiKey();
    const hopeful = callersWith(early);
    await allGet(401, hopeful);
    await sql(
      `INSERT INTO api_keys (client_id, digest, last4, scopes) SELECT id, $1, '----', '{read}' FROM clients WHERE name = $2`,
      digestOf(early),
      client,
    );
    await allGet(200, hopeful);
  });
});

it('While no key can be looked up, a known one is shown the limits of its client, others those of their address', async () => {
  const { callers } = await aKnownKey('pro');
  const [caller, stranger] = [callers[0]!, here.callerWith(newApiKey())];
  await without(here, 'api_keys', async () => {
    // For less than a second, what was read before applies.
    await until(async () => (await caller.get('/categories')).status === 500);
    for (const [one, limit] of [
      [caller, 300],
      [stranger, 60],
    ] as const) {
      const answer = await one.get('/categories');
      expect([answer.status, limitsIn(answer).limit]).toEqual([500, limit]);
    }
  });
});
