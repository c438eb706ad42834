import { QueryFailedError } from 'typeorm';
import { writeUsageError } from '#libs/command-line';
import { OperatorError, describeFailure, failureSettings } from '#libs/messages';
import { SERVICE_ADDRESS, explain, explainAddress } from '../../../src/runtime/failures';

Object.assign(failureSettings, { programName: 'petstore', explain });

const HOSTILE = 'a\u001b[2J\u009b31m\r\nb\u202ec\u2028';
const ESCAPED = 'a\\u001b[2J\\u009b31m\\u000d\\u000ab\\u202ec\\u2028';

function usageError(text: string): string {
  let written = '';
  writeUsageError(text, (line) => (written += line));
  return written;
}

describe('a message on standard error', () => {
  it('is one line without terminal sequences: of bad usage, of a failure and of the database', () => {
    const usage = usageError(`error: unknown option '${HOSTILE}'\n`);
    const missing = describeFailure(new OperatorError(`There is no ${HOSTILE}.`, 'not_found'));
    const ofDatabase = describeFailure(Object.assign(new Error(HOSTILE), { code: '3D000' }));
    for (const [written, text] of [
      [usage, `unknown option '${ESCAPED}' (see --help`],
      [missing, `There is no ${ESCAPED}.`],
      [ofDatabase, `cannot be used: ${ESCAPED}.`],
    ] as const) {
      expect(written).toMatch(/^petstore: [\x20-\x7e]+\n$/);
      expect(written).toContain(text);
    }
  });

  it('shows where a defect happened, on several lines, still without terminal sequences', () => {
    const written = describeFailure(new TypeError('a\u001b[2J'));
    expect(written).toMatch(/^petstore: TypeError: a\\u001b\[2J\n {4}at [^]*\n$/);
    expect(written).not.toContain('\u001b');
  });
});

const failure = (code: string, message: string) => Object.assign(new Error(message), { code });

test.each([
  ['53100', 'could not extend file "base/1": No space left on device'],
  ['57014', 'canceling statement due to statement timeout'],
])('a database that responds with an error (%s) is reported with its message', (code, message) => {
  const line = `petstore: The database could not complete the request: ${message}.\n`;
  expect(describeFailure(failure(code, message))).toBe(line);
  expect(describeFailure(new QueryFailedError('SELECT 1', [], failure(code, message)))).toBe(line);
});

test('a connection of the database that breaks while the service begins to listen is no fault of the address', async () => {
  const broken = Object.assign(failure('ECONNRESET', 'read ECONNRESET'), { syscall: 'read' });
  const open = explainAddress(SERVICE_ADDRESS, { host: '127.0.0.1', port: 3000 }, () =>
    Promise.reject(broken),
  );
  await expect(open).rejects.toBe(broken);
  const line = 'petstore: The database of DATABASE_URL cannot be reached: read ECONNRESET.\n';
  expect(describeFailure(broken)).toBe(line);
});
