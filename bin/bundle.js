'use strict';

// Bundles the compiled command line: finding and reading two thousand files takes longer than most commands.
const { spawnSync } = require('node:child_process');
const { existsSync, rmSync } = require('node:fs');
const { createRequire } = require('node:module');
const { join } = require('node:path');
const { build } = require('esbuild');
const { BUNDLE, COMPILED } = require('./command-line');

const dist = join(__dirname, '../dist');

/** Leaves out what packages use only if it is installed. */
const optionalPackages = {
  name: 'optional-packages',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./#]/ }, ({ path, importer }) => {
      try {
        createRequire(importer || __filename).resolve(path);
        return undefined;
      } catch {
        return { path, external: true };
      }
    });
  },
};

function bundle() {
  return build({
    entryPoints: [join(dist, 'src/cli/main.js')],
    outfile: BUNDLE,
    bundle: true,
    platform: 'node',
    target: 'node20',
    // Nest and TypeORM use the names of classes.
    keepNames: true,
    supported: { 'dynamic-import': false },
    // The server reads files that are beside its own. The packages are large, and used by no command.
    external: ['../runtime/start.js', '../http/document/describe-interface.js', 'prettier', 'typescript'],
    plugins: [optionalPackages],
    logLevel: 'error',
  });
}

/** Runs a command that loads nearly everything, and keeps what V8 compiled for it. There is no store, so it fails. */
function keepCompiled() {
  rmSync(COMPILED, { force: true });
  const script = `require(${JSON.stringify(require.resolve('./command-line'))}).runCommandLine(true)`;
  const { stderr } = spawnSync(process.execPath, ['-e', script, 'petstore', 'pets', 'list'], {
    cwd: dist,
    env: { DATA_DIR: join(dist, 'none') },
    encoding: 'utf8',
  });
  if (!existsSync(COMPILED)) {
    throw new Error(`the command line does not start: ${stderr}`);
  }
}

bundle()
  .then(keepCompiled)
  .catch((error) => {
    process.stderr.write(`petstore: ${error.message}\n`);
    process.exit(1);
  });
