'use strict';

// The files that pages load, each with its Brotli form, in `dist/browser`, made by `npm run build`.
const { mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } = require('node:fs');
const { dirname, join } = require('node:path');
const { runInNewContext } = require('node:vm');
const { brotliCompressSync, constants } = require('node:zlib');

const ROOT = join(__dirname, '..');
const OWN = join(ROOT, 'src/http/document/browser');
const SWAGGER_UI = dirname(require.resolve('swagger-ui-dist/package.json'));
const SWAGGER_UI_FILES = [
  'swagger-ui.css',
  'swagger-ui-bundle.js',
  'swagger-ui-standalone-preset.js',
  'favicon-16x16.png',
  'favicon-32x32.png',
];
const SCALAR = join(ROOT, 'node_modules/@scalar/fastify-api-reference/dist/index.js');

/** Quality 11 makes Scalar's script a tenth smaller, but takes 11 seconds of each build instead of 0.7. */
const BROTLI = {
  params: {
    [constants.BROTLI_PARAM_QUALITY]: 9,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
  },
};

/** Scalar's script for browsers is a string in the package's module for Fastify. */
function scalarScript() {
  const [, literal] = /^var standalone_default = (".*");$/m.exec(readFileSync(SCALAR, 'utf8'));
  // The source map that the last line names is not in the package.
  return runInNewContext(literal).replace(/\n\/\/# sourceMappingURL=.*$/, '\n');
}

const folder = join(ROOT, 'dist/browser');
mkdirSync(folder, { recursive: true });
for (const name of readdirSync(OWN)) writeBoth(name, readFileSync(join(OWN, name)));
for (const name of SWAGGER_UI_FILES) writeBoth(name, readFileSync(join(SWAGGER_UI, name)));
writeBoth('scalar.js', scalarScript());

function writeBoth(name, content) {
  write(name, content);
  write(`${name}.br`, brotliCompressSync(content, BROTLI));
}

/** Replaces a file atomically, because a running service may be reading the file. */
function write(name, content) {
  const unfinished = join(folder, `.unfinished-${process.pid}`);
  writeFileSync(unfinished, content);
  renameSync(unfinished, join(folder, name));
}
