import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, read } from '../../../support/files';

it('Types and operations match openapi.yaml; `npm run generate` updates them', () => {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-generated-'));
  // The generator is an ES module, which jest does not load.
  execFileSync(process.execPath, [join(ROOT, 'libs/client/scripts/generate.mjs'), folder]);
  const names = readdirSync(join(ROOT, 'libs/client/src/generated'));
  expect(readdirSync(folder)).toEqual(names);
  for (const name of names) {
    expect(readFileSync(join(folder, name), 'utf8')).toBe(read(`libs/client/src/generated/${name}`));
  }
  rmSync(folder, { recursive: true });
});
