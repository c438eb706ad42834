'use strict';

// The command line as one file with V8's code cache: loading two thousand files takes three times as long. Run by itself, it bundles.
const { spawnSync } = require('node:child_process');
const { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const { dirname, join } = require('node:path');
const { Script } = require('node:vm');

const DIST = join(__dirname, '../dist');
const folder = join(DIST, 'src/cli');
const BUNDLE = join(folder, 'petstore.js');
const COMPILED = `${BUNDLE}.compiled`;

/** Another version of V8 rejects the code cache and compiles again. The bundle is ASCII, so latin1 is the fastest encoding. */
function runCommandLine() {
  const cachedData = existsSync(COMPILED) ? readFileSync(COMPILED) : undefined;
  const script = new Script(Module.wrap(readFileSync(BUNDLE, 'latin1')), { filename: BUNDLE, cachedData });
  if (cachedData === undefined) {
    process.once('exit', () => writeFileSync(COMPILED, script.createCachedData()));
  }
  const module = new Module(BUNDLE);
  script.runInThisContext()(module.exports, Module.createRequire(BUNDLE), module, BUNDLE, dirname(BUNDLE));
}

/**
 * The server reads files next to its own. What is set for `pg` must reach the copy that TypeORM loads. The other packages
 * are large.
 */
const NOT_FOR_COMMANDS = ['../main.js', './openapi-document.js', 'pg', 'prettier', 'typescript'];
/** Nest loads them where they are installed and used. */
const OPTIONAL = [
  '@fastify/static',
  '@fastify/view',
  '@nestjs/microservices',
  '@nestjs/platform-express',
  '@nestjs/websockets',
  'class-transformer',
];

/** Removes what was compiled for another branch: migrations and entities are found by looking into folders. A package has no sources. */
function removeLeftovers() {
  const isSource = existsSync(join(__dirname, '../src')) && existsSync(DIST);
  for (const file of isSource ? readdirSync(DIST, { recursive: true }) : []) {
    const source = join(__dirname, '..', file.replace(/\.map$/, ''));
    const isCompiled = /^(src|libs).*\.js(\.map)?$/.test(file) && join(DIST, file) !== BUNDLE;
    if (isCompiled && !existsSync(source) && !existsSync(source.replace(/js$/, 'ts'))) {
      rmSync(join(DIST, file));
    }
  }
}

async function bundle() {
  rmSync(COMPILED, { force: true });
  removeLeftovers();
  await require('esbuild').build({
    entryPoints: [join(folder, 'main.js')],
    outfile: BUNDLE,
    bundle: true,
    platform: 'node',
    target: 'node20',
    // Nest and TypeORM need class names.
    keepNames: true,
    // A `Script` does not support import().
    supported: { 'dynamic-import': false },
    external: [...NOT_FOR_COMMANDS, ...OPTIONAL],
    logLevel: 'error',
  });
  // The first run keeps its code. There is no store, which is what it has to report.
  const run = [
    '-e',
    `require(${JSON.stringify(__filename)}).runCommandLine()`,
    'petstore',
    'clients',
    'list',
  ];
  const env = { DATA_DIR: join(folder, 'none') };
  const { stderr } = spawnSync(process.execPath, run, { cwd: folder, env, encoding: 'utf8' });
  if (!stderr.includes('There is no database')) {
    rmSync(COMPILED, { force: true });
    throw new Error(`The command line does not start: ${stderr}`);
  }
}

module.exports = { COMPILED, removeLeftovers, runCommandLine };
if (require.main === module) {
  void bundle();
}
