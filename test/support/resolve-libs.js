'use strict';

// Where jest loads sources outside of its module system, its moduleNameMapper does not apply: libraries would be looked
// for in the build, and so would what a source imports when it is needed, which is named as it is compiled.
const Module = require('node:module');
const { join } = require('node:path');

const resolve = Module._resolveFilename;
Module._resolveFilename = function (request, parent, ...rest) {
  const library = /^#libs\/(.+)$/.exec(request)?.[1];
  if (library) {
    return join(__dirname, '../../libs', library, 'src/index.ts');
  }
  const source = parent?.filename?.endsWith('.ts') ? /^(\..*)\.js$/.exec(request)?.[1] : undefined;
  return resolve.call(this, source ?? request, parent, ...rest);
};
