'use strict';

// Bundles the compiled command line, because loading two thousand files takes longer than most commands.
const { spawnSync } = require('node:child_process');
const { existsSync, rmSync } = require('node:fs');
const { createRequire } = require('node:module');
const { join } = require('node:path');
const { build } = require('esbuild');
const { BUNDLE, COMPILED } = require('./command-line');

const dist = join(__dirname, '../dist');

/** Excludes optional packages that are not installed. */
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
  // The code cache is valid for one bundle only.
  rmSync(COMPILED, { force: true });
  return build({
    entryPoints: [join(dist, 'src/cli/main.js')],
    outfile: BUNDLE,
    bundle: true,
    platform: 'node',
    target: 'node20',
    // Nest and TypeORM need class names.
    keepNames: true,
    // A `Script` does not support import().
    supported: { 'dynamic-import': false },
    // The server is not bundled, because it reads files next to its own. The packages are large, and commands do not use them.
    external: ['../main.js', './describe-interface.js', 'prettier', 'typescript'],
    plugins: [optionalPackages],
    logLevel: 'error',
  });
}

/** Runs a command that loads nearly everything, and saves V8's code cache. There is no store, so the command must report that. */
function keepCompiled() {
  const script = `require(${JSON.stringify(require.resolve('./command-line'))}).runCommandLine(true)`;
  const { stderr } = spawnSync(process.execPath, ['-e', script, 'petstore', 'clients', 'list'], {
    cwd: dist,
    env: { DATA_DIR: join(dist, 'none') },
    encoding: 'utf8',
  });
  if (!stderr.includes('There is no database') || !existsSync(COMPILED)) {
    throw new Error(`the command line does not start: ${stderr}`);
  }
}

bundle()
  .then(keepCompiled)
  .catch((error) => {
    process.stderr.write(`petstore: ${error.message}\n`);
    process.exit(1);
  });
