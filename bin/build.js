'use strict';

// Compiles the sources to dist/, bundles the command line, and records the time, which bin/petstore.js compares.
const { spawnSync } = require('node:child_process');
const { utimesSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const root = join(__dirname, '..');

function run(...args) {
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) {
    process.exit(status ?? 1);
  }
}

const started = new Date();
let nest;
try {
  nest = require.resolve('@nestjs/cli/bin/nest.js', { paths: [root] });
} catch {
  process.stderr.write('petstore: the compiler is not installed; run npm ci first, without --omit=dev.\n');
  process.exit(1);
}
run(nest, 'build');
run(join(__dirname, 'bundle.js'));
writeFileSync(join(root, 'dist', '.built'), `${started.toISOString()}\n`);
// A source saved during the build is newer than the recorded time, so the next start builds again.
utimesSync(join(root, 'dist', '.built'), started, started);
