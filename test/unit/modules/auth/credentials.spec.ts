import { presentedKey } from '../../../../src/modules/auth/access-rules';
import { newApiKey } from '../../../../src/modules/auth/api-key';

const KEY = newApiKey();
const OTHER = newApiKey();
const MISSING = expect.objectContaining({ code: 'missing_api_key', status: 401 }) as Error;
const INVALID = expect.objectContaining({ code: 'invalid_api_key', status: 401 }) as Error;

/** The key of a request with these header fields, each `Name: value`. */
function keyOf(...fields: string[]) {
  const rawHeaders = fields.flatMap((field) => {
    const [name = '', ...value] = field.split(':');
    return [name, value.join(':').trim()];
  });
  return presentedKey({ rawHeaders });
}

describe('the key of a request', () => {
  it.each([
    ['is read from X-API-Key', [`X-API-Key: ${KEY}`], KEY],
    ['is read from Authorization: Bearer', [`Authorization: Bearer ${KEY}`], KEY],
    ['is read whatever the case of the scheme', [`authorization: bEARER ${KEY}`], KEY],
    ['is read past several spaces and trailing ones', [`Authorization: Bearer   ${KEY}  `], KEY],
    ['may be in both when it is the same', [`X-API-Key: ${KEY}`, `Authorization: Bearer ${KEY}`], KEY],
    ['may be given twice when it is the same', [`X-API-Key: ${KEY}`, `x-api-key: ${KEY}`], KEY],
    ['may be joined with itself by a proxy', [`X-API-Key: ${KEY}, ${KEY}`], KEY],
    ['may be joined with itself as Bearer', [`Authorization: Bearer ${KEY}, Bearer ${KEY}`], KEY],
    ['is read from X-API-Key beside Basic', [`X-API-Key: ${KEY}`, 'Authorization: Basic dTpw'], KEY],
    ['is read from Bearer joined with Basic', [`Authorization: Bearer ${KEY}, Basic dTpw`], KEY],
    ['is read after parameters', [`Authorization: Digest realm="a", nonce = "b",Bearer ${KEY},`], KEY],
    ['is read from Bearer beside Basic', ['Authorization: Basic dTpw', `Authorization: Bearer ${KEY}`], KEY],
    ['is read beside an empty X-API-Key', ['X-API-Key:', `X-API-Key: ${KEY}`, 'X-API-Key:'], KEY],
    ['is read from Bearer beside an empty X-API-Key', ['X-API-Key:', `Authorization: Bearer ${KEY}`], KEY],
    ['is missing without header fields', [], MISSING],
    ['is missing with an empty X-API-Key', ['X-API-Key:'], MISSING],
    ['is missing with Basic', ['Authorization: Basic dTpw'], MISSING],
    ['is missing with only the scheme', ['Authorization: Bearer'], MISSING],
    ['is missing without a scheme', [`Authorization: ${KEY}`], MISSING],
    ['is missing with a scheme that only begins like Bearer', [`Authorization: Bearers ${KEY}`], MISSING],
    ['is missing with Bearer inside another scheme', [`Authorization: Digest Bearer ${KEY}`], MISSING],
    ['is not read from other fields', [`Cookie: key=${KEY}`, `Proxy-Authorization: Bearer ${KEY}`], MISSING],
    ['is invalid with the scheme twice', [`Authorization: Bearer Bearer ${KEY}`], INVALID],
    ['is invalid with a character after it', [`X-API-Key: ${KEY}\xa0,`], INVALID],
    ['is invalid in quotes', [`X-API-Key: "${KEY}"`], INVALID],
  ])('%s', (_rule, fields, key) => {
    expect(keyOf(...fields)).toEqual(key);
  });

  it.each([
    ['in both fields', [`X-API-Key: ${KEY}`, `Authorization: Bearer ${OTHER}`]],
    ['that differ in case', [`X-API-Key: ${KEY}`, `Authorization: Bearer ${KEY.toUpperCase()}`]],
    ['in two X-API-Key', [`X-API-Key: ${KEY}`, `X-API-Key: ${OTHER}`]],
    ['in one X-API-Key', [`X-API-Key: ${KEY}, ${OTHER}`]],
    ['of which one is no key', ['X-API-Key: x', `X-API-Key: ${KEY}`]],
    ['in two Authorization', [`Authorization: Bearer ${KEY}`, `Authorization: Bearer ${OTHER}`]],
    ['in one Authorization', [`Authorization: Bearer ${KEY}, Bearer ${OTHER}`]],
    ['joined without the scheme', [`Authorization: Bearer ${KEY}, ${OTHER}`]],
    ['of which one is no key, joined without the scheme', [`Authorization: Bearer ${KEY},x, Basic dTpw`]],
  ])('is rejected with different keys %s', (_where, fields) => {
    expect(keyOf(...fields)).toMatchObject({ code: 'conflicting_credentials', status: 400 });
  });
});
