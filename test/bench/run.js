'use strict';

// Runs a TypeScript file of the benchmark, compiled in memory as jest compiles its own: node test/bench/run.js <file> …
const Module = require('node:module');
const { join, resolve } = require('node:path');
const { transformFileSync } = require('@swc/core');
require('../support/resolve-libs');

const root = join(__dirname, '../..');

Module._extensions['.ts'] = (module, file) =>
  module._compile(transformFileSync(file, { cwd: root }).code, file);

// Dynamic imports name the file that a build would make.
const resolveFilename = Module._resolveFilename;
Module._resolveFilename = function (request, parent, ...rest) {
  const own = request.startsWith('.') && parent?.filename?.endsWith('.ts');
  return resolveFilename.call(this, own ? request.replace(/\.js$/, '') : request, parent, ...rest);
};

const [file] = process.argv.splice(2, 1);
require(resolve(file));
