import widthOf from 'string-width';
import { csvLines } from '../../../src/cli/output/output';
import { type Row, recordLines, relativeTime, tableLines } from '../../../src/cli/output/table';
import { type Terminal, printable, printableJson, terminalOf } from '../../../src/runtime/messages';

const PIPE: Terminal = { columns: undefined, colours: false };
const wide = (columns: number): Terminal => ({ columns, colours: false });
const COLOURS: Terminal = { columns: undefined, colours: true };

describe('a table', () => {
  const rows = [
    { id: 1, client: 'acme', share: 12.5, endedAt: null },
    { id: 1200, client: 'a', share: null, endedAt: 'now' },
  ];

  it('aligns numbers right and text left; a missing value is a dash', () => {
    expect(tableLines(rows, PIPE)).toEqual([
      '  id  client  share  endedAt',
      '   1  acme     12.5  -',
      '1200  a           -  now',
    ]);
  });

  it('is not wrapped in a pipe, whatever its width', () => {
    const [, line] = tableLines([{ name: 'x'.repeat(500), note: 'y' }], PIPE);
    expect(line).toBe(`${'x'.repeat(500)}  y`);
  });

  it('fits the terminal by narrowing the widest column first; wide cells wrap, and nothing is lost', () => {
    const row = { short: 'twelve chars', long: 'x'.repeat(40), longer: 'y'.repeat(50) };
    expect(tableLines([row], wide(60)).slice(1)).toEqual([
      `twelve chars  ${'x'.repeat(22)}  ${'y'.repeat(22)}`,
      `              ${'x'.repeat(18)}      ${'y'.repeat(22)}`,
      `                                      ${'y'.repeat(6)}`,
    ]);
  });

  it.each([30, 40, 59, 60, 61, 80])('is never wider than %i columns', (columns) => {
    const row = { id: 9, first: 'x'.repeat(33), second: 'y'.repeat(20) };
    for (const line of tableLines([row, { ...row, second: 'short' }], wide(columns))) {
      expect(widthOf(line)).toBeLessThanOrEqual(columns);
    }
  });

  it('omits empty columns before it narrows others, but only when it is too wide', () => {
    const rows = [{ id: 1, until: null, note: 'x'.repeat(20) }];
    expect(tableLines(rows, wide(31))[0]).toBe('id  until  note');
    expect(tableLines(rows, wide(30))).toEqual(['id  note', ` 1  ${'x'.repeat(20)}`]);
  });

  it('never breaks a number, and prints one record after another where nothing else fits', () => {
    const row = { requests: 123_456_789_012_345, name: 'x'.repeat(30) };
    expect(tableLines([row], wide(28))[1]).toBe(`123456789012345  ${'x'.repeat(11)}`);
    expect(tableLines([row, { requests: 7, name: 'y' }], wide(27))).toEqual([
      'requests  123456789012345',
      `name      ${'x'.repeat(30)}`,
      '',
      'requests  7',
      'name      y',
    ]);
  });
});

describe('times', () => {
  const now = Date.parse('2026-11-22T12:00:00.000Z');
  const row = { at: '2026-11-22T09:30:00.000Z', until: '2026-11-24T12:00:01Z', name: '2026-11-22' };

  it('are relative in tables on a terminal, and absolute for one record and in pipes', () => {
    expect(tableLines([row], { ...PIPE, now })[1]).toBe('2 h ago  in 2 d  2026-11-22');
    expect(recordLines(row, { ...PIPE, now })[0]).toBe('at     2026-11-22T09:30:00.000Z (2 h ago)');
    expect(tableLines([row], PIPE)[1]).toContain('2026-11-22T09:30:00.000Z');
  });

  it('are whole units, rounded down', () => {
    const of = (difference: number) => relativeTime(new Date(now + difference).toISOString(), now);
    const differences = [0, -999, -1_000, 59_999, -90_000, -86_400_000 * 1_500];
    expect(differences.map(of)).toEqual(['now', 'now', '1 s ago', 'in 59 s', '1 min ago', '1,500 d ago']);
  });
});

describe('colours', () => {
  const rows: Row[] = [{ client: 'banned', state: 'active', until: null }];

  it('are a bold header, states by their meaning, and pale dashes, whatever a client is named', () => {
    const [header, line] = tableLines(rows, COLOURS);
    expect(header).toBe('\u001b[1mclient\u001b[22m  \u001b[1mstate \u001b[22m  \u001b[1muntil\u001b[22m');
    expect(line).toBe('banned  \u001b[32mactive\u001b[39m  \u001b[2m-    \u001b[22m');
  });

  it('show each state in its colour', () => {
    for (const [state, code] of Object.entries({ banned: 31, revoked: 31, expired: 33, active: 32 })) {
      expect(recordLines({ state }, COLOURS)[0]).toContain(`\u001b[${code}m${state}\u001b[39m`);
    }
  });

  it('are used on a terminal, unless NO_COLOR is set and not empty', () => {
    const terminal = { isTTY: true, columns: 80 };
    expect(terminalOf(terminal, {})).toEqual({ columns: 80, colours: true });
    expect(terminalOf(terminal, { NO_COLOR: '' }).colours).toBe(true);
    expect(terminalOf(terminal, { NO_COLOR: '0' })).toEqual({ columns: 80, colours: false });
    expect(terminalOf(terminal, { TERM: 'dumb' }).colours).toBe(false);
    expect(terminalOf({}, { FORCE_COLOR: '1', COLUMNS: '20' })).toEqual(PIPE);
    expect(terminalOf({ isTTY: true, columns: 0 }, {}).columns).toBeUndefined();
  });

  it('are not used without colour support', () => {
    expect([...tableLines(rows, PIPE), ...recordLines(rows[0]!, PIPE)].join('')).not.toContain('\u001b');
  });
});

describe('text of any kind', () => {
  it('is aligned and wrapped by its display width, at spaces if possible', () => {
    expect(tableLines([{ name: '犬', note: 'a' }], PIPE)).toEqual(['name  note', '犬    a']);
    const note = '犬と猫と犬と until 2026-11-22T09:30:00.000Z';
    expect(tableLines([{ id: 1, note }], wide(30))).toEqual([
      'id  note',
      ' 1  犬と猫と犬と until',
      '    2026-11-22T09:30:00.000Z',
    ]);
  });

  it('cannot contain terminal sequences, break out of its cell or reverse the line', () => {
    const name = 'a\u001b[2Jb\r\nc\u009b31m\u202ed\u007f\t';
    expect(printable(name)).toBe('a\\u001b[2Jb\\u000d\\u000ac\\u009b31m\\u202ed\\u007f\\u0009');
    expect(tableLines([{ name }], COLOURS)[1]).toBe(printable(name));
    expect(recordLines({ names: [name] }, PIPE)[0]).toBe(`names  ${printable(name)}`);
  });

  it('is the same text in JSON, without terminal sequences', () => {
    const value = { name: 'a\u001b[2J\u009b31m\u202e\u007f"\\ü犬' };
    const json = printableJson(value);
    expect(JSON.parse(json)).toEqual(value);
    expect(json).toBe('{"name":"a\\u001b[2J\\u009b31m\\u202e\\u007f\\"\\\\ü犬"}');
  });
});

it('CSV marks a text that a spreadsheet would run as a formula and leaves numbers alone', () => {
  const texts = ['=HYPERLINK("http://x")', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', 'a=b', ''];
  const lines = csvLines([
    ...texts.map((name) => ({ name, change: -5 })),
    { name: ['=1', 'b'], change: 0.5 },
  ]);
  expect(lines).toEqual([
    'name,change',
    `"'=HYPERLINK(""http://x"")",-5`,
    `'+1,-5`,
    `'-1,-5`,
    `'@SUM(A1),-5`,
    '\\u0009=1,-5',
    '\\u000d=1,-5',
    'a=b,-5',
    ',-5',
    `"'=1,b",0.5`,
  ]);
});
