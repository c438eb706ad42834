'use strict';

// Compiles the sources to dist/ and marks when, for bin/petstore.js to compare with.
const { spawnSync } = require('node:child_process');
const { mkdirSync, utimesSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const root = join(__dirname, '..');
const started = new Date();
let nest;
try {
  nest = require.resolve('@nestjs/cli/bin/nest.js', { paths: [root] });
} catch {
  process.stderr.write('petstore: the compiler is not installed; run npm ci first, without --omit=dev.\n');
  process.exit(1);
}
const { status } = spawnSync(process.execPath, [nest, 'build'], { cwd: root, stdio: 'inherit' });
if (status !== 0) {
  process.exit(status ?? 1);
}
mkdirSync(join(root, 'dist'), { recursive: true });
writeFileSync(join(root, 'dist', '.built'), `${started.toISOString()}\n`);
// A source saved while the compiler ran is newer than the mark, and is compiled at the next start.
utimesSync(join(root, 'dist', '.built'), started, started);
