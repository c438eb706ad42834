'use strict';

// Jest loads global setup outside of its module system, where its moduleNameMapper does not hold and Node would look
// for the libraries in the build.
const Module = require('node:module');
const { join } = require('node:path');

const resolve = Module._resolveFilename;
Module._resolveFilename = function (request, ...rest) {
  const library = /^#libs\/(.+)$/.exec(request)?.[1];
  return library
    ? join(__dirname, '../../libs', library, 'src/index.ts')
    : resolve.call(this, request, ...rest);
};
