import * as fs from 'node:fs';
import { DataFolder } from '../../../../libs/embedded-postgres/src/data-folder';
import { reasonIn } from '../../../../libs/embedded-postgres/src/program';
import { watchLog } from '../../../../libs/embedded-postgres/src/server-log';
import { Bench } from '../../../support/embedded-postgres-bench';

const bench = new Bench();

afterAll(() => bench.clear());

it('empties a log which grows large while the server writes it, and keeps the old one once', () => {
  jest.useFakeTimers();
  const folder = DataFolder.open(bench.path('folder'));
  const server = folder.openToAppend('server.log');
  const end = watchLog(folder);
  fs.writeSync(server, 'x'.repeat(9 * 1024 * 1024));
  jest.advanceTimersByTime(60_000);
  fs.writeSync(server, 'more');
  expect(fs.readFileSync(folder.file('server.log'), 'utf8')).toBe('more');
  expect(fs.statSync(folder.file('server.log.1')).size).toBe(9 * 1024 * 1024);
  end();
  expect(jest.getTimerCount()).toBe(0);
  fs.closeSync(server);
  jest.useRealTimers();
});

it('finds the line which says why a program failed', () => {
  const log = [
    '2026-11-21 09:34:36.436 UTC [5230] LOG:  could not bind IPv4 address "127.0.0.1": Address already in use',
    '2026-11-21 09:34:36.436 UTC [5230] FATAL:  could not create any TCP/IP sockets',
    '2026-11-21 09:34:36.437 UTC [5230] LOG:  database system is shut down',
  ];
  expect(reasonIn(log.join('\n'))).toBe('could not create any TCP/IP sockets');
  expect(reasonIn('initdb: error: could not write\ninitdb: removing data directory\n')).toBe(
    'initdb: error: could not write',
  );
  expect(reasonIn('')).toBe('it gave no reason');
});
