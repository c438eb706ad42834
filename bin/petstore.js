#!/usr/bin/env node
'use strict';

// Runs the program, and builds it first if it is missing or older than its sources. An installed package is already built.
const { spawnSync } = require('node:child_process');
const { existsSync, readdirSync, statSync } = require('node:fs');
const { enableCompileCache } = require('node:module');
const { join } = require('node:path');
const { COMPILED, runCommandLine } = require('./command-line');

const root = join(__dirname, '..');
const built = join(root, 'dist', '.built');
/** The server does not need the command line, and starts faster without it. */
const isServer = process.argv.length === 3 && process.argv[2] === 'serve';

/** When something in a folder was last changed, added or removed. */
function newest(path) {
  const stats = statSync(path);
  const names = stats.isDirectory() ? readdirSync(path) : [];
  return names.reduce((latest, name) => Math.max(latest, newest(join(path, name))), stats.mtimeMs);
}

function isStale() {
  if (!existsSync(built) || !(isServer || existsSync(COMPILED))) {
    return true;
  }
  const sources = ['src', 'libs', 'bin', 'package.json', 'package-lock.json', '.swcrc'];
  return existsSync(join(root, 'src')) && sources.some(isNewer);
}

function isNewer(name) {
  const path = join(root, name);
  return existsSync(path) && newest(path) > statSync(built).mtimeMs;
}

function build() {
  process.stderr.write('petstore: building …\n');
  const args = [join(root, 'bin', 'build.js'), ...(isServer ? ['--server'] : [])];
  const { status } = spawnSync(process.execPath, args, { stdio: ['ignore', 2, 2] });
  if (status !== 0) {
    process.stderr.write(
      'petstore: the build failed; run npm ci (with development dependencies) and try again.\n',
    );
    process.exit(1);
  }
}

if (isStale()) {
  build();
}
// Node 22 and newer cache the compiled code of the server, which is not in the bundle.
enableCompileCache?.(join(root, 'dist', '.compiled'));
if (isServer) {
  require('../dist/src/main.js');
} else {
  runCommandLine();
}
