import { verdictOf } from './support/audit-verdict';

const report = (vulnerabilities: object) => JSON.stringify({ auditReportVersion: 2, vulnerabilities });

it('No known vulnerability: 0', () => {
  expect(verdictOf(report({}))).toMatchObject({ exitCode: 0 });
});

it('A serious vulnerability: 1, and it is named', () => {
  const { exitCode, lines } = verdictOf(
    report({ leftpad: { severity: 'high', range: '<2', fixAvailable: true } }),
  );
  expect([exitCode, lines[0]]).toEqual([1, 'high: leftpad <2, and there is a fix']);
});

it('A minor vulnerability: 0, and it is named', () => {
  const { exitCode, lines } = verdictOf(report({ leftpad: { severity: 'moderate', range: '<2' } }));
  expect([exitCode, lines[0]]).toEqual([0, 'moderate: leftpad <2']);
});

it.each([
  [
    'a registry that refuses',
    JSON.stringify({ message: '405 Method Not Allowed', statusCode: 405, error: {} }),
  ],
  ['a failure without a message', JSON.stringify({ statusCode: 503 })],
  ['a response that is not a report', '<html>'],
  ['no response', ''],
])('%s does not pass as a clean report: 2', (_what, printed) => {
  const { exitCode, lines } = verdictOf(printed);
  expect([exitCode, lines]).toEqual([2, [expect.stringContaining('NOTHING WAS AUDITED')]]);
});
