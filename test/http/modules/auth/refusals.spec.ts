import { newApiKey } from '../../../../src/modules/auth/api-key';
import { KeysService } from '../../../../src/modules/auth';
import type { ErrorBody } from '../../../support/api-client';
import { call, without } from '../../../support/limits';
import { useService } from '../../../support/use-service';

const TRANSPORT = ['date', 'connection', 'keep-alive'];
const INVALID_CHALLENGE = 'Bearer realm="petstore", error="invalid_token"';

const service = useService();
beforeEach(() => service.clock.advance(120_000));

/** A key that was good once and is not, or never was. */
const INVALID: [string, () => Promise<string>][] = [
  ['mistyped', async () => `${(await service.issueKey()).key.slice(0, -1)}_`],
  ['of another kind', () => Promise.resolve('hunter2')],
  ['unknown', () => Promise.resolve(newApiKey())],
  ['expired', async () => (await service.issueKey({ expiresAt: new Date(service.clock.now() - 1) })).key],
  [
    'revoked',
    async () => {
      const { key, keyId } = await service.issueKey();
      await service.app.get(KeysService).revoke(keyId);
      return key;
    },
  ],
];

describe('401 missing_api_key', () => {
  it.each(['api_key', 'apikey', 'key', 'access_token', 'X-API-Key'])(
    'with a valid key in the URL as %s',
    async (name) => {
      const { key } = await service.issueKey();
      const answer = await service.anonymous().get<ErrorBody>(`/pets?${name}=${key}`);
      expect([answer.status, answer.body.code]).toEqual([401, 'missing_api_key']);
      expect(answer.text).not.toContain(key);
    },
  );
});

describe('401 invalid_api_key', () => {
  it('is the same whether the key is mistyped, unknown, expired or revoked, and never reveals it', async () => {
    const answers = new Set<string>();
    for (const [, aKey] of INVALID) {
      const key = await aKey();
      const fields: Record<string, string>[] = [{ 'X-API-Key': key }, { Authorization: `Bearer ${key}` }];
      for (const field of fields) {
        const answer = await service.anonymous().with(field).get<ErrorBody>('/pets');
        expect(answer.text + JSON.stringify([...answer.headers])).not.toContain(key);
        expect(answer.body).toMatchObject({ code: 'invalid_api_key', status: 401 });
        expect(answer.headers.get('www-authenticate')).toBe(INVALID_CHALLENGE);
        const names = [...answer.headers.keys()].filter((name) => !TRANSPORT.includes(name));
        answers.add(JSON.stringify([answer.status, answer.text, names]));
      }
    }
    expect(answers.size).toBe(1);
  });

  it('needs only one look-up for an unknown key that is sent repeatedly, and none for a mistyped one', async () => {
    const unknown = service.callerWith(newApiKey());
    const mistyped = service.anonymous().with({ 'X-API-Key': `psk_live_${'0'.repeat(36)}` });
    await unknown.get('/pets');
    const answers = await without(service, 'api_keys', async () => [
      ...(await call(unknown, 2, '/pets')),
      ...(await call(mistyped, 2, '/pets')),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
  });
});

// Which header fields hold a key is tested in test/unit/modules/auth/credentials.spec.ts.
