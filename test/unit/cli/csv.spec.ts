import { csvLines } from '../../../src/cli/output/csv';

it('A text that a spreadsheet would run as a formula is marked as text, and numbers stay numbers', () => {
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
