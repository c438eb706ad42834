import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import packageJson from '../../../package.json';
import { installation } from '../../support/installation';

test('An installed package contains the guides and finds them', async () => {
  expect(packageJson.files).toContain('docs');
  const compiled = join(installation(), 'dist/src/http/document/guides.js');
  const script = `require(${JSON.stringify(compiled)}).readGuides().then((guides) => console.log(guides.length))`;
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], { cwd: '/' });
  expect(Number(stdout)).toBeGreaterThan(5);
});
