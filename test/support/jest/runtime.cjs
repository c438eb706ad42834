'use strict';

const { readFileSync } = require('node:fs');
const Module = require('node:module');
const { join, resolve, sep } = require('node:path');
const { compileFunction } = require('node:vm');
const { default: Runtime } = require('jest-runtime');
require('../resolve-libs');

const ROOT = join(__dirname, '../../..');
const SHARED = ['src', 'libs'].map((folder) => join(ROOT, folder) + sep);
const PACKAGE = /^(@[^/]+\/)?[\w-]/;

/** Where stack traces find the sources, for the whole process. */
const sourceMaps = new Map();
let current;

Module._extensions['.ts'] = (module, filename) =>
  module._compile(current.transformCache.transform(filename, { isInternalModule: false }), filename);

/**
 * Loads packages and the service's sources once for all test files of this process, as Node does, and only tests and their support
 * anew. A file that replaces modules (`jest.mock`), or says `// Own sources` because it
 * leaves traces in them, gets sources of its own.
 */
module.exports = class SharedRuntime extends Runtime {
  constructor(...all) {
    super(...all);
    const { executor, transformCache } = this;
    executor.compile = (source, filename) =>
      compileFunction(source, executor.injectedModuleParameters, { filename });
    transformCache.sourceMaps = sourceMaps;
    this.sharesSources = !/^(jest\.mock\(|\/\/ Own sources)/m.test(readFileSync(this._testPath, 'utf8'));
    current = this;
  }

  requireModuleOrMock(from, name) {
    return this.isShared(from, name) && !this.mockState.shouldMockCjs(from, name).shouldMock
      ? Module.createRequire(from)(name)
      : super.requireModuleOrMock(from, name);
  }

  isShared(from, name) {
    if (name.startsWith('.') || name.startsWith('#libs/')) {
      return this.sharesSources && (name.startsWith('#') || isSource(resolve(from, '..', name)));
    }
    return PACKAGE.test(name) && !name.startsWith('@jest/') && !Module.isBuiltin(name);
  }
};

function isSource(path) {
  return SHARED.some((folder) => path.startsWith(folder));
}
