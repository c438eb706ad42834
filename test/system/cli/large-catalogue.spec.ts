import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestDatabase, createTestDatabase } from '../../support/test-database';
import { LONG_MS, RunningCommand } from './support/running-command';
import { until } from '../../support/eventually';

const folder = mkdtempSync(join(tmpdir(), 'petstore-large-'));
const path = (name: string) => join(folder, name);

describe('200,000 pets', () => {
  const PETS = 200_000;
  const small = ['--max-old-space-size=64'];

  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
    const names = Array.from({ length: PETS }, (_none, index) => `${index + PETS} ${'x'.repeat(60)}`);
    const pets = names.map((name) => JSON.stringify({ kind: 'pet', name, categoryId: 1 }));
    const category = JSON.stringify({ kind: 'category', id: 1, name: 'Dogs' });
    writeFileSync(path('large.ndjson'), [category, ...pets].join('\n'));
  });
  afterAll(async () => {
    await database.drop();
    rmSync(folder, { recursive: true });
  });

  const command = (args: string[], node: string[] = []) =>
    new RunningCommand(args, { environment: { DATABASE_URL: database.url }, cwd: folder, node });
  const partial = () => readdirSync(folder).find((entry) => entry.endsWith('.partial'));

  it(
    'are imported and exported in little memory, and the file is never incomplete',
    async () => {
      const imported = await command(['import', 'large.ndjson', '--json'], small).end();
      const told = {
        code: 0,
        stdout: `{"categories":1,"pets":${PETS},"repeated":0,"skipped":0}\n`,
        stderr: '',
      };
      expect(imported).toEqual(told);

      const interrupted = command(['export', 'out.ndjson']);
      await until(() => partial() !== undefined && statSync(path(partial()!)).size > 0);
      expect(await interrupted.end('SIGINT')).toMatchObject({ code: 130, stdout: '' });
      expect(interrupted.stderr).toBe('petstore: interrupted; out.ndjson was not written.\n');
      expect(readdirSync(folder).filter((name) => name.startsWith('out.ndjson'))).toEqual([]);

      expect(await command(['export', 'out.ndjson'], small).end()).toMatchObject({ code: 0, stderr: '' });
      expect(statSync(path('out.ndjson')).size).toBeGreaterThan(PETS * 100);
    },
    LONG_MS,
  );
});
