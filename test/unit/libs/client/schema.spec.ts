import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, read, useFolder } from '../../../support/files';

const folder = useFolder();

it('Types and operations match openapi.yaml; `npm run generate` updates them', () => {
  // The generator runs as a program, because it is an ES module, which Jest does not load.
  execFileSync(process.execPath, [join(ROOT, 'libs/client/scripts/generate.mjs'), folder]);
  const names = readdirSync(join(ROOT, 'libs/client/src/generated'));
  expect(readdirSync(folder)).toEqual(names);
  for (const name of names) {
    expect(readFileSync(join(folder, name), 'utf8')).toBe(read(`libs/client/src/generated/${name}`));
  }
});
