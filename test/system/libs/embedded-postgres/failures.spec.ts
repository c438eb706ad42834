import * as fs from 'node:fs';
import { join } from 'node:path';
import { EmbeddedPostgresError, startEmbeddedPostgres } from '#libs/embedded-postgres';
import { Bench } from '../../../support/embedded-postgres-bench';

const bench = new Bench();
const directory = bench.path('data');
const options = { dataDirectory: directory, database: 'shop' };

const start = () => startEmbeddedPostgres(options);
const failure = (dataDirectory: string) =>
  startEmbeddedPostgres({ ...options, dataDirectory }).then(
    () => 'it started',
    (error: unknown) =>
      error instanceof EmbeddedPostgresError ? error.message : `unclear: ${String(error)}`,
  );

afterAll(() => bench.clear());

describe('failures', () => {
  it('report in one line what is wrong with the folder', async () => {
    const file = bench.path('file');
    fs.writeFileSync(file, '');
    expect(await failure(file)).toMatch(/^cannot start PostgreSQL in .*file: a part of the path is a file/);
    expect(await failure(join(file, 'below'))).toMatch(
      /^cannot start PostgreSQL in .*file\/below: a part of the path is a file/,
    );
  });

  it('refuse data of another major version, of no version, and without their password', async () => {
    const other = bench.path('other');
    fs.mkdirSync(join(other, 'data'), { recursive: true });
    fs.writeFileSync(join(other, 'data', 'base'), '');
    expect(await failure(other)).toMatch(/holds no PostgreSQL database/);
    fs.writeFileSync(join(other, 'data', 'PG_VERSION'), '17\n');
    expect(await failure(other)).toMatch(/was made by PostgreSQL 17 and cannot be used by PostgreSQL 18/);
    fs.writeFileSync(join(other, 'data', 'PG_VERSION'), '18\n');
    expect(await failure(other)).toMatch(/password of the database .* is missing/);
  });

  it('pass on why the server does not start', async () => {
    const parameters = { shared_buffers: 'plenty' };
    await expect(startEmbeddedPostgres({ ...options, parameters })).rejects.toThrow(
      /does not start in .*: invalid value for parameter "shared_buffers": "plenty"/,
    );
  });

  it('refuse a server that does not accept the password', async () => {
    await (await start()).stop();
    const file = join(directory, 'password');
    const password = fs.readFileSync(file);
    fs.writeFileSync(file, 'wrong\n');
    expect(await failure(directory)).toMatch(/refuses the password in/);
    fs.writeFileSync(file, password);
    const server = await start();
    expect(server.adopted).toBe(false);
    await server.stop();
  });
});
