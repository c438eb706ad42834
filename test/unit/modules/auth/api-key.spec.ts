import { digestOf, isWellFormedKey, newApiKey } from '../../../../src/modules/auth/api-key';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PREFIX = 'psk_live_';

function replaced(key: string, place: number, text: string): string {
  return key.slice(0, place) + text + key.slice(place + text.length);
}

describe('a new key', () => {
  it('is psk_live_ followed by 36 base62 characters, never issued twice, with the whole alphabet at every position', () => {
    const keys = Array.from({ length: 2_000 }, newApiKey);
    expect(keys.filter((key) => !/^psk_live_[0-9A-Za-z]{36}$/.test(key) || !isWellFormedKey(key))).toEqual(
      [],
    );
    expect(new Set(keys).size).toBe(keys.length);
    for (let place = PREFIX.length; place < PREFIX.length + 30; place += 1) {
      expect(new Set(keys.map((key) => key[place])).size).toBe(62);
    }
  });

  it('ends with the CRC32 of its random part, in the digits 0-9A-Za-z', () => {
    // The checksum of this key was computed with zlib of Python.
    expect(isWellFormedKey('psk_live_0123456789ABCDEFGHIJabcdefghij4Us3aw')).toBe(true);
  });
});

describe('a mistyped key is detected', () => {
  it('at every position, with every other character', () => {
    const key = newApiKey();
    const mistyped = Array.from(key).flatMap((_character, place) =>
      [...ALPHABET].map((character) => replaced(key, place, character)),
    );
    expect(new Set(mistyped.filter(isWellFormedKey))).toEqual(new Set([key]));
  });

  it.each([
    ['nothing', () => ''],
    ['the prefix alone', () => PREFIX],
    ['one character less', () => newApiKey().slice(0, -1)],
    ['one character more', () => `${newApiKey()}0`],
    ['a line break after it', () => `${newApiKey()}\n`],
    ['a space before it', () => ` ${newApiKey()}`],
    ['another prefix', () => newApiKey().replace('live', 'test')],
    ['a prefix in capitals', () => newApiKey().replace('psk', 'PSK')],
    ['a character outside of base62', () => replaced(newApiKey(), 20, '-')],
    ['a letter that only looks like one of base62', () => replaced(newApiKey(), 20, 'а')],
    ['two keys with a comma, as Node joins repeated header fields', () => `${newApiKey()}, ${newApiKey()}`],
    ['a long text', () => 'psk_live_'.repeat(10_000)],
  ])('when it is %s', (_what, text) => {
    expect(isWellFormedKey(text())).toBe(false);
  });
});

it('The SHA-256 of a key in base64url is what is stored', () => {
  const ofAbc = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
  expect(digestOf('abc')).toBe(Buffer.from(ofAbc, 'hex').toString('base64url'));
});
