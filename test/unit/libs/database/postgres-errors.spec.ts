import { DatabaseError } from 'pg';
import { isDatabaseUnavailable, isRefusedStatement } from '#libs/database';

const reported = (code: string) => Object.assign(new DatabaseError('no', 0, 'error'), { code });

it.each([
  ['an invalid value', reported('22012'), true],
  ['a violated constraint', reported('23503'), true],
  ['a trigger that raises an error', reported('P0001'), true],
  ['the end of the session', reported('57P01'), false],
  ['a commit with an unknown outcome', reported('40003'), false],
  ['a failure of the network', Object.assign(new Error('read ENETDOWN'), { code: 'ENETDOWN' }), false],
  ['nothing', undefined, false],
])('%s: whether its transaction has certainly had no effect', (_what, error, isRefused) => {
  expect(isRefusedStatement(error)).toBe(isRefused);
});

it('The end of a connection or of a right, or a connection too many, is an outage', () => {
  const codes = ['53300', '57P01', '57P04', '57P05', '25P03', '25P04', '42501'];
  expect(codes.filter((code) => !isDatabaseUnavailable(reported(code)))).toEqual([]);
});

it.each([
  { code: 'CERT_HAS_EXPIRED' },
  { code: 'EPROTO', syscall: 'write' },
  { code: 'ERR_TLS_CERT_ALTNAME_INVALID' },
  { message: 'The server does not support SSL connections' },
])('TLS that fails is an outage: %j', (failure) => {
  expect(isDatabaseUnavailable(Object.assign(new Error(), failure))).toBe(true);
});
