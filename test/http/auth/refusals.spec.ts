import { newApiKey } from '../../../src/modules/auth/api-key';
import { KeysService } from '../../../src/modules/auth';
import type { ErrorBody } from '../../support/api-client';
import { call, without } from '../../support/limits';
import { useService } from '../../support/use-service';

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
  it('has a challenge without an error', async () => {
    const answer = await service.anonymous().get<ErrorBody>('/pets');
    expect([answer.status, answer.body.code]).toEqual([401, 'missing_api_key']);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="petstore"');
  });

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
  it('is the same whether the key is mistyped, unknown, expired or revoked', async () => {
    const answers = new Set<string>();
    for (const [, aKey] of INVALID) {
      const key = await aKey();
      for (const headers of [{ 'X-API-Key': key }, { Authorization: `Bearer ${key}` }] as Record<
        string,
        string
      >[]) {
        const answer = await service.anonymous().with(headers).get<ErrorBody>('/pets');
        const { status, headers: fields, text } = answer;
        const named = [...fields.keys()].filter(
          (name) => !['date', 'connection', 'keep-alive'].includes(name),
        );
        answers.add(JSON.stringify([status, text, fields.get('www-authenticate'), named]));
      }
    }
    expect(answers.size).toBe(1);
    const [status, text, challenge] = JSON.parse([...answers][0]!) as [number, string, string];
    expect([status, JSON.parse(text), challenge]).toEqual([
      401,
      expect.objectContaining({ code: 'invalid_api_key', status: 401 }),
      INVALID_CHALLENGE,
    ]);
  });

  it.each(INVALID)('never reveals a key that is %s', async (_what, aKey) => {
    const key = await aKey();
    const answer = await service.anonymous().with({ 'X-API-Key': key }).get('/pets');
    expect(answer.text + JSON.stringify([...answer.headers])).not.toContain(key);
  });

  it('needs only one look-up for an unknown key that is sent repeatedly, and none for a mistyped one', async () => {
    const unknown = service.anonymous().with({ 'X-API-Key': newApiKey() });
    const mistyped = service.anonymous().with({ 'X-API-Key': `psk_live_${'0'.repeat(36)}` });
    await unknown.get('/pets');
    const answers = await without(service, 'api_keys', async () => [
      ...(await call(unknown, 2, '/pets')),
      ...(await call(mistyped, 2, '/pets')),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
  });
});

// Which header fields hold a key is tested in test/unit/auth/credentials.spec.ts.

it('400 conflicting_credentials with two valid keys', async () => {
  const [one, other] = [await service.issueKey(), await service.issueKey()];
  const caller = service.anonymous().with({ 'X-API-Key': one.key, Authorization: `Bearer ${other.key}` });
  const answer = await caller.get<ErrorBody>('/pets');
  expect([answer.status, answer.body.code]).toEqual([400, 'conflicting_credentials']);
});

it('a valid key is accepted in either header field', async () => {
  const { key } = await service.issueKey();
  const headers: Record<string, string>[] = [{ 'X-API-Key': key }, { Authorization: `Bearer ${key}` }];
  for (const header of headers) {
    expect((await service.anonymous().with(header).get('/pets')).status).toBe(200);
  }
});
