import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openapiDocument } from '../../../../src/cli/openapi-document';
import { type PackageFile, ROOT, read, readJson } from '../../../support/files';

it('Types and operations match openapi.yaml; `npm run generate` updates them', () => {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-generated-'));
  try {
    // The generator is an ES module, which jest does not load.
    execFileSync(process.execPath, [join(ROOT, 'libs/client/scripts/generate.mjs'), folder]);
    const names = readdirSync(join(ROOT, 'libs/client/src/generated'));
    expect(readdirSync(folder)).toEqual(names);
    for (const name of names) {
      expect(readFileSync(join(folder, name), 'utf8')).toBe(read(`libs/client/src/generated/${name}`));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it('Its dependencies are the versions with which it is tested', () => {
  const { dependencies } = readJson<PackageFile>('libs/client/package.json');
  const ours = readJson<PackageFile>('package.json');
  expect({ ...ours.devDependencies, ...ours.dependencies }).toMatchObject(dependencies!);
});

it('Exactly the POST operations of the document accept an Idempotency-Key, as the client assumes', async () => {
  const { paths } = JSON.parse(await openapiDocument('json')) as {
    paths: Record<string, Record<string, { parameters: object[] }>>;
  };
  const operations = Object.values(paths).flatMap((methods) => Object.entries(methods));
  const taking = operations.filter(([, { parameters }]) =>
    JSON.stringify(parameters).includes('Idempotency-Key'),
  );
  expect(new Set(taking.map(([method]) => method))).toEqual(new Set(['post']));
  expect(taking.length).toBe(operations.filter(([method]) => method === 'post').length);
});
