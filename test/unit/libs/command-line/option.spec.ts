import {
  duration,
  futureInstant,
  commaSeparated,
  shortText,
  wholeNumber,
} from '../../../../libs/command-line/src/option';

const NOW = Date.UTC(2026, 10, 21, 12);
const DAY_MS = 86_400_000;

beforeEach(() => void jest.spyOn(Date, 'now').mockReturnValue(NOW));
afterEach(() => jest.restoreAllMocks());

/** Texts with the values as which they are read, and texts with the errors by which they are refused. */
function check<Value>(
  parse: (text: string) => Value,
  good: Record<string, Value>,
  bad: string[],
  message: string,
) {
  for (const [text, value] of Object.entries(good)) {
    expect([text, parse(text)]).toEqual([text, value]);
  }
  for (const text of bad) {
    expect(() => parse(text)).toThrow(message);
  }
}

it('A whole number is decimal digits within its bounds', () => {
  const bad = ['0', '101', '', '-1', '1.5', '1e1', 'ten', '99999999999999999'];
  check(wholeNumber(1, 100), { 1: 1, 100: 100 }, bad, 'is not a whole number from 1 to 100');
});

it('Several values are separated by commas or given in several options, in any order and once each', () => {
  const parse = commaSeparated(['read', 'write']);
  check(
    (text) => parse(text),
    { read: ['read'], 'write,read': ['read', 'write'], 'read,read': ['read'] },
    ['', 'all', 'read,', 'read,all'],
    'is not one of read, write',
  );
  expect(parse('write', parse('read'))).toEqual(['read', 'write']);
});

it('An expiry is a day, at its end, or a time with an offset, and in the future', () => {
  const parse = (text: string) => futureInstant(text).getTime();
  const good = {
    '2026-11-21': Date.UTC(2026, 10, 22),
    '2027-01-31T12:00:00Z': Date.UTC(2027, 0, 31, 12),
    '2027-01-31T12:00:00+02:00': Date.UTC(2027, 0, 31, 10),
    '9999-12-31': Date.UTC(9999, 11, 31, 23, 59, 59, 999),
    '9999-12-31T23:00:00-02:00': Date.UTC(9999, 11, 31, 23, 59, 59, 999),
  };
  const bad = [
    'tomorrow',
    '2099-02-31',
    '2027-01-31T12:00:00',
    '31.1.2027',
    '10000-01-01',
    '+010000-01-01',
    '',
  ];
  check(parse, good, bad, 'is not a day (2027-01-31) or a time');
  check(parse, {}, ['2020-01-01', '2026-11-21T11:59:59Z'], 'is not in the future');
});

it('A duration is a number with its unit', () => {
  const good = { '0': 0, '90s': 90_000, '10m': 600_000, '24h': DAY_MS, '7d': 7 * DAY_MS };
  const bad = ['', '5', '8d', '1w', '-1h', '1.5h', 'h'];
  check(duration(0, 7 * DAY_MS), good, bad, 'is not a time such as 90s, 10m, 2h or 3d, up to 7d');
});

it('A short text is composed, and its length counts characters, not UTF-16 units', () => {
  const dogs = '🐕'.repeat(10);
  const good = { 'price list': 'price list', [dogs]: dogs, ['e\u0301'.repeat(10)]: 'é'.repeat(10) };
  check(shortText(10), good, ['', ' ', '🐕'.repeat(11)], 'the text must have 1 to 10 characters');
  const key = `for psk_live_${'a'.repeat(36)}`;
  check(shortText(100), {}, [key, 'https://me:secret@shop.example'], 'contains an API key or a password');
});
