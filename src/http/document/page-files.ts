import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { entityTag } from '#libs/http';

/** A file that pages load, at a path with its version, so that browsers keep it. */
function fileOf(name: string, ending: string) {
  const file = join(__dirname, `browser/${name}.${ending}`);
  return { file, path: `/docs/${name}-${entityTag(readFileSync(file)).slice(1, 9)}.${ending}` };
}

/** Scalar's page, as its package has it for browsers; the rest of the package is not used. */
function scalar() {
  const folder = dirname(require.resolve('@scalar/fastify-api-reference'));
  const { version } = JSON.parse(readFileSync(join(folder, '../package.json'), 'utf8')) as {
    version: string;
  };
  return { file: join(folder, 'js/standalone.js'), path: `/docs/scalar-${version}.js` };
}

const readAll = () => ({
  styles: fileOf('guide', 'css'),
  copying: fileOf('copying', 'js'),
  reference: fileOf('reference', 'js'),
  scalar: scalar(),
});

let files: ReturnType<typeof readAll> | undefined;

/** Not read earlier, because the bundle of the command line has the pages without their files. */
export function pageFiles() {
  return (files ??= readAll());
}
