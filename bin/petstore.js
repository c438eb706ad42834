#!/usr/bin/env node
'use strict';

// Runs the program, and builds it first if it is missing or older than its sources. An installed package is already built.
const { spawnSync } = require('node:child_process');
const { existsSync, readdirSync, statSync } = require('node:fs');
const { enableCompileCache } = require('node:module');
const { join } = require('node:path');

const root = join(__dirname, '..');
const built = join(root, 'dist', '.built');

function newest(path) {
  const stats = statSync(path);
  return stats.isDirectory()
    ? readdirSync(path).reduce((latest, name) => Math.max(latest, newest(join(path, name))), 0)
    : stats.mtimeMs;
}

function isStale() {
  const sources = [
    'src',
    'libs',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'tsconfig.build.json',
  ].map((name) => join(root, name));
  const present = sources.filter(existsSync);
  return !existsSync(built) || present.some((source) => newest(source) > statSync(built).mtimeMs);
}

function build() {
  process.stderr.write('petstore: building …\n');
  const { status } = spawnSync(process.execPath, [join(root, 'bin', 'build.js')], {
    stdio: ['ignore', 2, 2],
  });
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
// The server does not need the command line, and starts faster without it.
if (process.argv.length === 3 && process.argv[2] === 'serve') {
  require('../dist/src/main.js');
} else {
  require('./command-line').runCommandLine();
}
