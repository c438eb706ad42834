import { reasonIn } from '../../../../libs/embedded-postgres/src/binaries';

it('finds the line that says why a program failed', () => {
  const log = [
    '2026-11-21 09:34:36.436 UTC [5230] LOG:  could not bind IPv4 address "127.0.0.1": Address already in use',
    '2026-11-21 09:34:36.436 UTC [5230] FATAL:  could not create any TCP/IP sockets',
    '2026-11-21 09:34:36.436 UTC [5231] FATAL:  the database system is starting up',
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
  expect(reasonIn('')).toBe('it gave no reason');
});
