import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { entityTag } from '#libs/http';

/** A file that pages load. Its path has its version, so browsers keep it. */
export interface PageFile {
  path: string;
  type: string;
  file: string;
}

const SCRIPT = 'text/javascript; charset=utf-8';

function ownFile(name: string, ending: string, type: string): PageFile {
  const file = join(__dirname, `browser/${name}.${ending}`);
  const version = entityTag(readFileSync(file)).slice(1, 9);
  return { path: `/docs/${name}-${version}.${ending}`, type, file };
}

/** Scalar's page as its package has it for browsers; the rest of the package is not used. */
function libraryFile(): PageFile {
  const folder = dirname(require.resolve('@scalar/fastify-api-reference'));
  const { version } = JSON.parse(readFileSync(join(folder, '../package.json'), 'utf8')) as {
    version: string;
  };
  return { path: `/docs/scalar-${version}.js`, type: SCRIPT, file: join(folder, 'js/standalone.js') };
}

let files: ReturnType<typeof readFiles> | undefined;

function readFiles() {
  return {
    styles: ownFile('guide', 'css', 'text/css; charset=utf-8'),
    copying: ownFile('copying', 'js', SCRIPT),
    reference: ownFile('reference', 'js', SCRIPT),
    library: libraryFile(),
  };
}

/** The command line, which serves no pages, does not have these files. */
export function pageFiles(): ReturnType<typeof readFiles> {
  return (files ??= readFiles());
}
