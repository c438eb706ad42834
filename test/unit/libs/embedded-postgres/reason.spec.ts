import { reasonUnavailable } from '../../../../libs/embedded-postgres/src/binaries';
import { reasonIn, withRemedy } from '../../../../libs/embedded-postgres/src/failures';

it('finds the line that says why a program failed', () => {
  const log = [
    '2026-11-21 09:34:36.436 UTC [5230] LOG:  could not bind IPv4 address "127.0.0.1": Address already in use',
    '2026-11-21 09:34:36.436 UTC [5230] FATAL:  could not create any TCP/IP sockets',
    '2026-11-21 09:34:36.436 UTC [5231] FATAL:  the database system is starting up',
    '2026-11-21 09:34:36.436 UTC [5201] FATAL:  terminating connection due to unexpected postmaster exit',
    '2026-11-21 09:34:36.437 UTC [5230] LOG:  database system is shut down',
  ];
  expect(reasonIn(log.join('\n'))).toBe('could not create any TCP/IP sockets');
  const full = [
    'FATAL:  could not extend file: No space left on device',
    'PANIC:  cannot abort transaction 1',
  ];
  expect(reasonIn(full.join('\n'))).toBe('could not extend file: No space left on device');
  expect(reasonIn('initdb: error: could not write\ninitdb: removing data directory\n')).toBe(
    'initdb: error: could not write',
  );
  expect(reasonIn('')).toBe('no error message was written');
});

it.each([
  ['data directory "/x/data" has invalid permissions', /chmod 700/],
  ['data directory "/x/init-BKHW3s" has invalid permissions', /a file system with owners/],
  ['initdb: error: could not change permissions of directory "/x": Operation not permitted', /with owners/],
  [
    'initdb: error: could not look up effective user ID 12345: user does not exist',
    /listed in \/etc\/passwd/,
  ],
  ['database files are incompatible with server', /the version of PostgreSQL that wrote them/],
  ['could not write to file "pg_wal/xlogtemp.1": No space left on device', /free some space/],
  ['could not map anonymous shared memory: Cannot allocate memory', /more memory/],
  ['configuration file "/x/data/postgresql.conf" contains errors', /correct postgresql\.conf/],
  ['could not open file "global/pg_control": No such file or directory', /from a backup/],
  ['required WAL directory "pg_wal" does not exist', /from a backup/],
  ["EROFS: read-only file system, mkdir '/x'", /let this user write to that folder/],
  ["ENOENT: no such file or directory, stat '/x'", /the symbolic link points to/],
  ['whatever else', /choose another folder/],
])('says what to do about: %s', (reason, remedy) => {
  expect(withRemedy(reason)).toMatch(new RegExp(`; .*${remedy.source}`));
});

it('is not available where the system has another C library than glibc', () => {
  expect(reasonUnavailable()).toBeUndefined();
  const report = jest.spyOn(process.report, 'getReport').mockReturnValue({ header: {} });
  expect(reasonUnavailable()).toBe(
    process.platform === 'linux'
      ? 'needs glibc, which this system (such as Alpine) does not have'
      : undefined,
  );
  report.mockRestore();
});
