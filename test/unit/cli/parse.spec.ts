import { clientName, duration, futureInstant, wholeNumber } from '../../../src/cli/command/parse';

const NOW = Date.UTC(2026, 10, 21, 12);
const DAY_MS = 86_400_000;

/** What each text is read as, and which texts are refused with what. */
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
  const parse = (text: string) => wholeNumber('--per-day', text, { min: 1, max: 100 });
  const bad = ['0', '101', '', '-1', '1.5', '1e1', 'ten', '99999999999999999'];
  check(parse, { 1: 1, 100: 100 }, bad, '--per-day takes a whole number from 1 to 100');
});

it('An expiry is a day, at its end, or a time with an offset, and in the future', () => {
  const parse = (text: string) => futureInstant('--expires', text, NOW).getTime();
  const good = {
    '2026-11-21': Date.UTC(2026, 10, 22),
    '2027-01-31T12:00:00Z': Date.UTC(2027, 0, 31, 12),
    '2027-01-31T12:00:00+02:00': Date.UTC(2027, 0, 31, 10),
  };
  const bad = ['tomorrow', '2099-02-31', '2027-01-31T12:00:00', '31.1.2027', ''];
  check(parse, good, bad, '--expires takes a day (2027-01-31) or a time');
  check(parse, {}, ['2020-01-01', '2026-11-21T11:59:59Z'], '--expires must be in the future');
});

it('A duration is a number with its unit', () => {
  const parse = (text: string) => duration('--overlap', text, { min: 0, max: 7 * DAY_MS });
  const good = { '0': 0, '90s': 90_000, '10m': 600_000, '24h': DAY_MS, '7d': 7 * DAY_MS };
  const message = '--overlap takes a time such as 90s, 10m, 2h or 3d, up to 7d';
  check(parse, good, ['', '5', '8d', '1w', '-1h', '1.5h', 'h'], message);
});

it("A client's name is up to 100 letters, digits and few signs", () => {
  const good = ['acme', 'a', 'Acme_2.shop-eu', 'x'.repeat(100)];
  const bad = ['', '-acme', 'a b', 'x'.repeat(101), 'a\nb', 'ä'];
  check(clientName, Object.fromEntries(good.map((name) => [name, name])), bad, 'A client name is 1 to 100');
});
