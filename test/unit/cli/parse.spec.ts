import { clientName, duration, futureInstant, wholeNumber } from '../../../src/cli/command/parse';

const NOW = Date.UTC(2026, 10, 21, 12);
const DAY_MS = 86_400_000;

describe('a whole number', () => {
  const parse = (text: string) => wholeNumber('--per-day', text, { min: 1, max: 100 });

  it.each([
    ['1', 1],
    ['100', 100],
  ])('%s', (text, value) => expect(parse(text)).toBe(value));

  it.each(['0', '101', '', '-1', '1.5', '1e1', 'ten', '99999999999999999'])('rejects "%s"', (text) => {
    expect(() => parse(text)).toThrow('--per-day takes a whole number from 1 to 100');
  });
});

describe('an expiry', () => {
  const parse = (text: string) => futureInstant('--expires', text, NOW);

  it.each([
    ['2026-11-21', Date.UTC(2026, 10, 22)],
    ['2027-01-31T12:00:00Z', Date.UTC(2027, 0, 31, 12)],
    ['2027-01-31T12:00:00+02:00', Date.UTC(2027, 0, 31, 10)],
  ])('%s', (text, instant) => expect(parse(text).getTime()).toBe(instant));

  it.each(['tomorrow', '2099-02-31', '2027-01-31T12:00:00', '31.1.2027', ''])('rejects "%s"', (text) => {
    expect(() => parse(text)).toThrow('--expires takes a day (2027-01-31) or a time');
  });

  it.each(['2020-01-01', '2026-11-21T11:59:59Z'])('rejects %s, which has passed', (text) => {
    expect(() => parse(text)).toThrow('--expires must be in the future');
  });
});

describe('a duration', () => {
  const parse = (text: string) => duration('--overlap', text, { min: 0, max: 7 * DAY_MS });

  it.each([
    ['0', 0],
    ['90s', 90_000],
    ['10m', 600_000],
    ['24h', DAY_MS],
    ['7d', 7 * DAY_MS],
  ])('%s', (text, milliseconds) => expect(parse(text)).toBe(milliseconds));

  it.each(['', '5', '8d', '1w', '-1h', '1.5h', 'h'])('rejects "%s"', (text) => {
    expect(() => parse(text)).toThrow('--overlap takes a time such as 90s, 10m, 2h or 3d, up to 7d');
  });
});

describe("a client's name", () => {
  it.each(['acme', 'a', 'Acme_2.shop-eu', 'x'.repeat(100)])('may be %s', (name) => {
    expect(clientName(name)).toBe(name);
  });

  it.each(['', '-acme', 'a b', 'x'.repeat(101), 'a\nb', 'ä'])('rejects "%s"', (name) => {
    expect(() => clientName(name)).toThrow('A client name is 1 to 100');
  });
});
