import { DataSource } from 'typeorm';
import { DeprecationReport } from '../../../../src/modules/deprecations';
import { DeprecatedCall } from '../../../../src/modules/deprecations/deprecated-calls';
import { useService } from '../../../support/use-service';

const service = useService();
const report = () =>
  new DeprecationReport(service.app.get(DataSource).getRepository(DeprecatedCall), service.clock);

beforeAll(async () => {
  const { pool } = service.database;
  await pool.query(`INSERT INTO clients (name, plan) VALUES ('acme', 'free'), ('other', 'free')`);
  await pool.query(
    `INSERT INTO api_keys (client_id, digest, last4, scopes)
     VALUES (1, 'a', 'aaaa', '{read}'), (1, 'b', 'bbbb', '{read}'), (2, 'c', 'cccc', '{read}')`,
  );
  await pool.query(
    `INSERT INTO deprecated_calls (key_id, operation, day, calls, last_call_at) VALUES
       (1, 'getPet', '2026-11-21', 2, '2026-11-21T08:00:00Z'), (1, 'getPet', '2026-11-20', 3, '2026-11-20T09:00:00Z'),
       (2, 'getPet', '2026-11-20', 9, '2026-11-20T10:00:00Z'), (3, 'getPet', '2026-11-21', 7, '2026-11-21T07:00:00Z'),
       (3, 'adoptPet', '2026-11-21', 1, '2026-11-21T06:00:00Z'), (3, 'getPet', '2026-08-23', 50, '2026-08-23T23:59:00Z')`,
  );
});

const brief = async (days: number, client?: string) =>
  (await report().of(days, client)).map(({ operation, endsWith, calls }) => [operation, endsWith, calls]);

it('the report shows who called what, how often and when last, sorted by operation and calls', async () => {
  expect(await report().of(90)).toEqual([
    ...use('adoptPet', 'other', 3, 'cccc', 1, '2026-11-21T06:00:00Z'),
    ...use('getPet', 'acme', 2, 'bbbb', 9, '2026-11-20T10:00:00Z'),
    ...use('getPet', 'other', 3, 'cccc', 7, '2026-11-21T07:00:00Z'),
    ...use('getPet', 'acme', 1, 'aaaa', 5, '2026-11-21T08:00:00Z'),
  ]);
});

function use(
  ...[operation, client, keyId, endsWith, calls, at]: [string, string, number, string, number, string]
) {
  return [{ operation, client, keyId, endsWith, calls, lastCallAt: new Date(at) }];
}

it('the report covers the last UTC days including today, optionally for one client', async () => {
  expect(await brief(1)).toEqual([
    ['adoptPet', 'cccc', 1],
    ['getPet', 'cccc', 7],
    ['getPet', 'aaaa', 2],
  ]);
  expect(await brief(2, 'acme')).toEqual([
    ['getPet', 'bbbb', 9],
    ['getPet', 'aaaa', 5],
  ]);
  expect(await brief(90, 'nobody')).toEqual([]);
  expect(await brief(91, 'other')).toContainEqual(['getPet', 'cccc', 57]);
});
