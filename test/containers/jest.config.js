'use strict';

/** @type {import('jest').Config} Apart from `npm test`: this one needs a Docker engine. */
module.exports = {
  rootDir: '../..',
  testMatch: ['<rootDir>/test/containers/*.walk.ts'],
  transform: { '^.+\\.ts$': '@swc/jest' },
  // Building the image and pulling others takes minutes.
  testTimeout: 900_000,
  maxWorkers: 1,
};
