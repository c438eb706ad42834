#!/usr/bin/env node
'use strict';

// Runs what `npm run build` has made, and makes nothing itself: it must work in a folder that it cannot write to.
const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { setFlagsFromString } = require('node:v8');

const dist = join(__dirname, '../dist');
const isServer = process.argv.length === 3 && process.argv[2] === 'serve';
const bundle = join(dist, 'src/cli/petstore.js');

const fail = (message) => {
  process.stderr.write(`petstore: ${message}\n`);
  process.exitCode = 1;
};

if (isWorkingDirectoryGone()) {
  fail('the working directory is gone. Change to a folder that exists, and try again.');
} else if (existsSync(bundle)) {
  if (isServer) {
    // Make the heap grow in smaller steps, so that floods of requests take less memory. This comes before any code is
    // loaded, because V8 uses kept code only if its flags are the same.
    setFlagsFromString('--heap-growing-percent=40');
  }
  const name = isServer ? 'server' : 'command';
  const programs = require('./compiled-bundle.js').load(bundle, join(dist, '.compiled'), name);
  programs[name]();
} else if (existsSync(join(__dirname, '../node_modules/.bin/nest'))) {
  fail('it is not built yet. Run npm start, or npm run build for a command.');
} else {
  fail(
    'it is not built yet, and the tools that build it are not installed. Run npm ci (without --omit=dev), then npm start.',
  );
}

function isWorkingDirectoryGone() {
  try {
    return process.cwd() === '';
  } catch {
    return true;
  }
}
