import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { migrateToNewest } from '../../../src/runtime/data-source';
import { until } from '../../support/eventually';
import { read, useFolder } from '../../support/files';
import { POSTGRESQL, findProgram } from '../../support/programs';
import { query } from '../../support/query';

/** `nobody`, because PostgreSQL refuses root. */
const ACCOUNT = process.getuid!() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const bin = dirname(findProgram(POSTGRESQL)!);
const folder = useFolder();
const data = join(folder, 'data');
const urlOf = (database: string) => `postgres://postgres@/${database}?host=${folder}`;
const driverUrlOf = (database: string) => `postgres://postgres@${encodeURIComponent(folder)}/${database}`;
let server: ChildProcess;

beforeAll(async () => {
  if (ACCOUNT.uid !== undefined) {
    chownSync(folder, ACCOUNT.uid, ACCOUNT.gid);
  }
  const environment = { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' };
  const options = { ...ACCOUNT, cwd: folder, env: environment };
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'postgres', '-E', 'UTF8', '--no-sync'], options);
  const args = ['-D', data, '-k', folder, '-c', 'listen_addresses=', '-c', 'fsync=off'];
  server = spawn(join(bin, 'postgres'), args, { ...options, stdio: 'ignore' });
  await until(() =>
    query(driverUrlOf('postgres'), 'CREATE DATABASE petstore').then(
      () => true,
      () => false,
    ),
  );
  await migrateToNewest(driverUrlOf('petstore'), () => undefined);
  await query(driverUrlOf('petstore'), `INSERT INTO categories (name) VALUES ('Dogs')`);
  await query(driverUrlOf('petstore'), `INSERT INTO clients (name, plan) VALUES ('acme', 'free')`);
  await query(
    driverUrlOf('petstore'),
    `INSERT INTO events (id, type, data) VALUES (gen_random_uuid(), 'category.created', '{}')`,
  );
  await query(
    driverUrlOf('petstore'),
    `INSERT INTO webhooks (client_id, url, secrets, created_at, enabled, since) VALUES (1, '', '', now(), true, 0)`,
  );
});
afterAll(async () => {
  const ended = once(server, 'exit');
  server.kill('SIGINT');
  await ended;
});

/** Runs a script as an operator does, with the tools of this server. */
function shell(script: string): void {
  const env = { PATH: `${bin}:${process.env.PATH}`, PGHOST: folder, PGUSER: 'postgres' };
  execFileSync('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder, env, stdio: 'pipe' });
}

/** A block of the page on the database that begins with this command, on this server. */
function documented(command: string): string {
  const blocks = read('docs/operations/database.md').split('```');
  const block = blocks.find((text) => text.includes(`\n${command}`))!;
  return block
    .replaceAll(/postgres:\/\/petstore@db\.example:5432\/(\w+)/g, (_url, name: string) => `'${urlOf(name)}'`)
    .replace('--owner petstore', '');
}

const content = (database: string) =>
  query(
    driverUrlOf(database),
    `SELECT categories.name, clients.name AS client, since, position, events.id FROM categories, clients, webhooks, events`,
  );

it('The documented backup of a server with its own tools is restored, and one with a setting of newer tools too', async () => {
  const whole = await content('petstore');
  expect(whole).toHaveLength(1);
  shell(documented('pg_dump'));
  expect(await content('restored')).toEqual(whole);
  // Tools 17 and newer write this line first, which a server 15 or 16 does not know; a newer one only may.
  shell('dropdb restored; createdb restored');
  const newer = `pg_restore() { echo 'SET transaction_timeout = 0;'; command pg_restore "$@"; }`;
  shell(`${newer}\n${documented('pg_restore --no-owner -f')}`);
  expect(await content('restored')).toEqual(whole);
});

it('Data alone are restored into a migrated database without the rows of the migrations', async () => {
  await query(driverUrlOf('postgres'), 'CREATE DATABASE data_alone');
  await migrateToNewest(driverUrlOf('data_alone'), () => undefined);
  shell(`pg_dump --data-only --exclude-table=schema_migrations --file data.sql petstore
    psql -1 -v ON_ERROR_STOP=1 -c 'TRUNCATE webhook_dispatch, store_identity' -f data.sql data_alone`);
  expect(await content('data_alone')).toEqual(await content('petstore'));
});

it('The tools of a server do not dump one of a newer major version', () => {
  const other = new URL(process.env.TEST_POSTGRES_URL!);
  const major = Number(
    / (\d+)/.exec(execFileSync(join(bin, 'postgres'), ['--version'], { encoding: 'utf8' }))![1],
  );
  const dump = () =>
    shell(`pg_dump -h '${decodeURIComponent(other.hostname)}' -U '${other.username}' --schema-only template`);
  if (major < 18) {
    expect(dump).toThrow(/server version mismatch/);
  } else {
    expect(dump).not.toThrow();
  }
});
