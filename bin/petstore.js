#!/usr/bin/env node
'use strict';

// Runs what `npm run build` has made, and makes nothing itself: it must work in a folder that it cannot write to.
const { existsSync } = require('node:fs');
const { enableCompileCache } = require('node:module');
const { join } = require('node:path');

const dist = join(__dirname, '../dist');
const isServer = process.argv.length === 3 && process.argv[2] === 'serve';
const program = join(dist, isServer ? 'src/main.js' : 'src/cli/petstore.js');

if (existsSync(program)) {
  // Node 22 and newer keep compiled code, where the folder can be written.
  enableCompileCache?.(join(dist, '.compiled'));
  require(program);
} else {
  process.stderr.write('petstore: it is not built yet. Run npm start, or npm run build for a command.\n');
  process.exitCode = 1;
}
