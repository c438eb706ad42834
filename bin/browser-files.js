'use strict';

// `npm run build` runs this script. The script writes the scripts, styles and icon that the service's web pages load to
// `dist/browser`, each as a plain file and as a file that is compressed with Brotli.
const { mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } = require('node:fs');
const { dirname, join } = require('node:path');
const { runInNewContext } = require('node:vm');
const { brotliCompressSync, constants } = require('node:zlib');

const ROOT = join(__dirname, '..');
const OWN = join(ROOT, 'src/http/document/browser');
const SWAGGER_UI = dirname(require.resolve('swagger-ui-dist/package.json'));
const SWAGGER_UI_FILES = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-16x16.png', 'favicon-32x32.png'];
const SCALAR = join(ROOT, 'node_modules/@scalar/fastify-api-reference/dist/index.js');

/**
 * The settings for Brotli. Quality 11 would make Scalar's script a tenth smaller, but each build would spend 11 seconds
 * on compression instead of 0.7.
 */
const BROTLI = {
  params: {
    [constants.BROTLI_PARAM_QUALITY]: 9,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
  },
};

/**
 * Settings of Scalar's editor for the body of a request. They are off by default and Scalar has no option for them, so
 * `turnedOn` changes their defaults in Scalar's script. Without `disableCloseBrackets`, a `{` that is typed over a
 * selected body would stand around the body, instead of replacing the body. Without `alwaysEmitChange`, a digit that is
 * deleted and typed again would vanish.
 */
const EDITOR_SETTINGS = ['disableCloseBrackets', 'alwaysEmitChange'];

/** Returns Scalar's script for browsers. The package has this script only as a string in its module for Fastify. */
function scalarScript() {
  const [, literal] = /^var standalone_default = (".*");$/m.exec(readFileSync(SCALAR, 'utf8'));
  // Remove the last line, because the source map that the line names is not in the package.
  const script = runInNewContext(literal).replace(/\n\/\/# sourceMappingURL=.*$/, '\n');
  return EDITOR_SETTINGS.reduce(turnedOn, script);
}

function turnedOn(script, setting) {
  const declaration = `${setting}:{type:Boolean,default:!`;
  if (!script.includes(`${declaration}1}`)) throw new Error(`Scalar no longer has the setting ${setting}.`);
  return script.replaceAll(`${declaration}1}`, `${declaration}0}`);
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
