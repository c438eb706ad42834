'use strict';

/** @type {import('jest').Config} */
module.exports = {
  testMatch: ['<rootDir>/test/**/*.spec.ts'],
  transform: { '^.+\\.ts$': '@swc/jest' },
  moduleNameMapper: { '^#libs/(.*)$': '<rootDir>/libs/$1/src' },
  testEnvironment: 'node',
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  maxWorkers: 2,
  // A worker keeps what each file has loaded, and one with a full heap spends its time on collecting garbage.
  workerIdleMemoryLimit: '700MB',
  testTimeout: 30_000,
};
