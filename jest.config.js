'use strict';

const tier = (name, more) => ({
  displayName: name,
  testMatch: [`<rootDir>/test/${name}/**/*.spec.ts`],
  transform: { '^.+\\.ts$': '@swc/jest' },
  // Dynamic imports name the compiled files.
  moduleNameMapper: {
    '^#libs/(.*)$': '<rootDir>/libs/$1/src',
    '^(\\.{1,2}/(?!.*node_modules).*)\\.js$': ['$1', '$1.js'],
  },
  // The SDK as it is published has the name of its sources.
  modulePathIgnorePatterns: ['<rootDir>/dist'],
  ...more,
});

/** @type {import('jest').Config} */
module.exports = {
  projects: [
    tier('unit'),
    tier('http', {
      globalSetup: '<rootDir>/test/support/jest/start-http.ts',
      globalTeardown: '<rootDir>/test/support/jest/stop.ts',
    }),
    tier('system', {
      setupFilesAfterEnv: ['<rootDir>/test/support/jest/one-day.ts'],
      globalSetup: '<rootDir>/test/support/jest/start-system.ts',
      globalTeardown: '<rootDir>/test/support/jest/stop.ts',
    }),
  ],
  testSequencer: '<rootDir>/test/support/jest/slow-first.cjs',
  // Jest prints the seed; the same order again: `--seed`.
  randomize: true,
  // Only for tests that hang: no test measures time.
  testTimeout: 300_000,
  // On two cores: tests of processes wait for about half of their time.
  maxWorkers: 4,
  workerIdleMemoryLimit: '1GB',
};
