#!/usr/bin/env node
'use strict';

// The executable `petstore` runs the programs that `npm run build` has made. It never builds them, because the
// executable must also work in a folder that it cannot write to.
const { existsSync } = require('node:fs');
const { enableCompileCache } = require('node:module');
const { join } = require('node:path');

const dist = join(__dirname, '../dist');
const isServer = process.argv.length === 3 && process.argv[2] === 'serve';
const program = join(dist, isServer ? 'src/main.js' : 'src/cli/petstore.js');

const fail = (message) => {
  process.stderr.write(`petstore: ${message}\n`);
  process.exitCode = 1;
};

if (isWorkingDirectoryGone()) {
  fail('the working directory is gone. Change to a folder that exists, and try again.');
} else if (existsSync(program)) {
  // Keep compiled code in the folder `.compiled`, if the folder can be written. Node keeps the compiled code of the
  // server, from version 22 on. `compiled-command.js` keeps the compiled code of the commands.
  const compiled = join(dist, '.compiled');
  if (isServer) {
    enableCompileCache?.(compiled);
    require(program);
  } else {
    require('./compiled-command.js').runCompiled(program, compiled);
  }
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
