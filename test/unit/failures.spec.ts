import { QueryFailedError } from 'typeorm';
import { explain } from '../../src/runtime/failures';

const failure = (code: string, message: string) => Object.assign(new Error(message), { code });

test('an unreachable database is reported with its variable', () => {
  expect(explain(failure('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:1'))).toBe(
    'petstore: The database of DATABASE_URL cannot be reached: connect ECONNREFUSED 127.0.0.1:1.\n',
  );
});

test.each([
  ['53100', 'could not extend file "base/1": No space left on device'],
  ['57014', 'canceling statement due to statement timeout'],
])('a database that responds with an error (%s) is reported with its message', (code, message) => {
  const line = `petstore: The database could not complete the request: ${message}.\n`;
  expect(explain(failure(code, message))).toBe(line);
  expect(explain(new QueryFailedError('SELECT 1', [], failure(code, message)))).toBe(line);
});

test('a missing password is named', () => {
  const error = new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string');
  expect(explain(error)).toBe(
    'petstore: The database of DATABASE_URL cannot be used: it asks for a password, and the URL has none.\n',
  );
});
