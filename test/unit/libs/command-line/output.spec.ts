import { execFileSync } from 'node:child_process';
import { inRows } from '../../../../libs/command-line/src/failure';
import { recordLines, tableLines } from '../../../../libs/command-line/src/output';
import { printable, shellWord } from '#libs/messages';

const NOW = Date.UTC(2026, 10, 21, 12);
afterEach(() => jest.restoreAllMocks());

describe('a table', () => {
  const rows = [
    { id: 1, client: 'acme', share: 12.5, endedAt: null },
    { id: 1200, client: 'a', share: null, endedAt: 'now' },
  ];

  it('aligns numbers right and text left; a missing value is a dash', () => {
    expect(tableLines(rows, Infinity)).toEqual([
      '  id  client  share  ended',
      '   1  acme     12.5  -',
      '1200  a           -  now',
    ]);
  });

  it('shows how long ago a time was, a record also the time; columns without a value are left out', () => {
    jest.spyOn(Date, 'now').mockReturnValue(NOW);
    const lastUsedAt = new Date(NOW - 36.5 * 60_000);
    const expiresAt = new Date(NOW + 3.5 * 86_400_000);
    const row = { lastUsedAt, expiresAt, bannedUntil: null };
    expect(tableLines([row], 80)).toEqual(['last used  expires', '36m ago    in 3d']);
    expect(recordLines(row)).toEqual([
      `last used     ${lastUsedAt.toJSON()} (36m ago)`,
      `expires       ${expiresAt.toJSON()} (in 3d)`,
      'banned until  -',
    ]);
  });

  it('has bold names on a terminal that has colours', () => {
    const hasColors = jest.fn().mockReturnValueOnce(true).mockReturnValueOnce(true).mockReturnValue(false);
    const output = { hasColors } as unknown as NodeJS.WriteStream & { fd: 1 };
    const stdout = jest.spyOn(process, 'stdout', 'get').mockReturnValue(output);
    const lines = [...tableLines([{ name: '犬' }], 80), ...recordLines({ id: 1 }), ...recordLines({ id: 1 })];
    stdout.mockRestore();
    const bold = (text: string) => `\u001b[1m${text}\u001b[22m`;
    expect(lines).toEqual([bold('name'), '犬', `${bold('id')}  1`, 'id  1']);
  });

  it('fits a narrow terminal: long cells are cut, then the least important columns go, and records follow only after that', () => {
    const row = { id: 7, name: '犬'.repeat(9), note: 'n'.repeat(30), requests: 123_456_789_012_345 };
    const table = (columns: number) => tableLines([row], columns, ['note', 'id']);
    expect(table(71)[1]).toBe(` 7  ${row.name}  ${row.note}  123456789012345`);
    expect(table(57).slice(1)).toEqual([
      ` 7  ${'犬'.repeat(8)}…  ${'n'.repeat(16)}…  123456789012345`,
      'Not shown: the rest after … (see --json)',
    ]);
    expect(table(40)).toEqual([
      'id  name                       requests',
      ` 7  ${row.name}  123456789012345`,
      'Not shown: note (see --json)',
    ]);
    expect(table(20)).toEqual([
      'id        7',
      `name      ${row.name}`,
      `note      ${row.note}`,
      'requests  123456789012345',
    ]);
  });
});

describe('text of any kind', () => {
  it('breaks between words in an error, with spaces, so that a command is copied as one line', () => {
    const text = 'There is no client named acme, see clients list.\nline 7: x\n';
    const rows = inRows(text, 20);
    expect(rows.split('\n')[0]!.match(/.{1,20}/g)).toEqual([
      'There is no client  ',
      'named acme, see     ',
      'clients list.',
    ]);
    expect(rows.replaceAll(/ +/g, ' ')).toBe(text);
    expect(inRows(text, Infinity)).toBe(text);
  });

  it('cannot contain terminal sequences, break out of its cell or reverse the line', () => {
    const name = 'a\u001b[2Jb\r\nc\u009b31m\u202ed\u007f\t';
    expect(printable(name)).toBe('a\\u001b[2Jb\\u000d\\u000ac\\u009b31m\\u202ed\\u007f\\u0009');
    expect(tableLines([{ name }], Infinity)[1]).toBe(printable(name));
    expect(recordLines({ names: [name] })[0]).toBe(`names  ${printable(name)}`);
  });

  it('is one word of a command line that a hint shows', () => {
    const words = ['pets.ndjson', '/a b/pets.ndjson', "Rex's", '$(id)', ''];
    const shown = execFileSync('sh', ['-c', `printf '%s\\n' ${words.map(shellWord).join(' ')}`]);
    expect(String(shown)).toBe(words.map((word) => `${word}\n`).join(''));
    expect(shellWord(words[0]!)).toBe(words[0]);
  });
});
