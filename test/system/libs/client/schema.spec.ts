import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describeInterface } from '../../../../src/cli/describe-interface';

const GENERATED = ['schema.ts', 'routes.ts', 'error-classes.ts'];
const CLIENT = resolve(__dirname, '../../../../libs/client');

/** What the document gives, by file. The generator is an ES module, which jest does not load. */
function generate(): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-schema-'));
  try {
    const script = join(CLIENT, 'scripts/generate.mjs');
    execFileSync(process.execPath, [script, folder], { input: document });
    return Object.fromEntries(GENERATED.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

let document: string;
beforeAll(async () => {
  document = await describeInterface('json');
});

it('Types, routes and error classes match the document; `npm run generate` updates them', () => {
  expect(generate()).toEqual(
    Object.fromEntries(
      GENERATED.map((name) => [name, readFileSync(join(CLIENT, 'src/generated', name), 'utf8')]),
    ),
  );
});

it('Exactly the POST operations of the document accept an Idempotency-Key, as the client assumes', () => {
  const { paths } = JSON.parse(document) as {
    paths: Record<string, Record<string, { parameters: object[] }>>;
  };
  const operations = Object.values(paths).flatMap((methods) => Object.entries(methods));
  const taking = operations.filter(([, { parameters }]) =>
    JSON.stringify(parameters).includes('Idempotency-Key'),
  );
  expect(new Set(taking.map(([method]) => method))).toEqual(new Set(['post']));
  expect(taking.length).toBe(operations.filter(([method]) => method === 'post').length);
});
