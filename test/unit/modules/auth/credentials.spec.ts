import { newApiKey } from '../../../../src/modules/auth/api-key';
import { presentedKey } from '../../../../src/modules/auth/api-key.guard';

const KEY = newApiKey();
const MISSING = expect.objectContaining({ code: 'missing_api_key', status: 401 }) as Error;

describe('the key of a request', () => {
  it.each([
    ['is read from X-API-Key', { 'x-api-key': KEY }, KEY],
    ['is read from Authorization: Bearer', { authorization: `Bearer ${KEY}` }, KEY],
    ['is read whatever the case of the scheme', { authorization: `bEARER ${KEY}` }, KEY],
    ['is read past several spaces and trailing ones', { authorization: `Bearer   ${KEY}  ` }, KEY],
    ['may be in both when it is the same', { 'x-api-key': KEY, authorization: `Bearer ${KEY}` }, KEY],
    ['is read from X-API-Key beside Basic', { 'x-api-key': KEY, authorization: 'Basic dTpw' }, KEY],
    [
      'is read from Bearer beside an empty X-API-Key',
      { 'x-api-key': '', authorization: `Bearer ${KEY}` },
      KEY,
    ],
    ['is missing without header fields', {}, MISSING],
    ['is missing with an empty X-API-Key', { 'x-api-key': '' }, MISSING],
    ['is missing with Basic', { authorization: 'Basic dTpw' }, MISSING],
    ['is missing with only the scheme', { authorization: 'Bearer' }, MISSING],
    ['is missing with the scheme and a space', { authorization: 'Bearer ' }, MISSING],
    ['is missing without a scheme', { authorization: KEY }, MISSING],
    ['is missing with a scheme that only begins like Bearer', { authorization: `Bearers ${KEY}` }, MISSING],
    ['is missing with Bearer inside another scheme', { authorization: `Digest Bearer ${KEY}` }, MISSING],
    [
      'is not read from other header fields',
      { cookie: `key=${KEY}`, 'proxy-authorization': `Bearer ${KEY}` },
      MISSING,
    ],
  ])('%s', (_rule, headers, key) => {
    expect(presentedKey(headers)).toEqual(key);
  });

  it.each([
    ['two different keys', { 'x-api-key': KEY, authorization: `Bearer ${newApiKey()}` }],
    ['keys that differ in case', { 'x-api-key': KEY, authorization: `Bearer ${KEY.toUpperCase()}` }],
  ])('is rejected with %s', (_what, headers) => {
    expect(presentedKey(headers)).toMatchObject({ code: 'conflicting_credentials', status: 400 });
  });
});
