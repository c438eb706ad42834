'use strict';

// Jest gives every test file a world of its own (a `vm` context) and loads every package anew into it: two seconds a file for Nest,
// TypeORM and the rest. Files that need a service share the world of their process instead, and with it the packages (`runtime.cjs`).
const { AsyncLocalStorage } = require('node:async_hooks');
const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

const { run } = AsyncLocalStorage.prototype;
/** What the runner keeps of the test or hook under way. */
const contexts = [];
AsyncLocalStorage.prototype.run = function (store, ...args) {
  if (store?.test ?? store?.hook) contexts.push({ storage: this, store });
  return run.call(this, store, ...args);
};

module.exports = class SharedEnvironment {
  constructor({ projectConfig }) {
    this.global = globalThis;
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    this.fakeTimers = null;
    this.before = { env: { ...process.env }, exit: process.exit, console: globalThis.console };
  }

  /** Jest adds its handlers to those it finds: without this, each file's events would also go to those of all files before. */
  async setup() {
    delete globalThis[Symbol.for('EVENT_HANDLERS')];
  }

  /** What a file has changed in the world does not reach the next one. */
  async teardown() {
    this.fakeTimersModern.dispose();
    const { env, exit, console } = this.before;
    // Each file has a test runner of its own. What it knows of the tests would keep the file's service in memory, and its
    // storage would slow every promise from then on.
    for (const { storage, store } of contexts.splice(0)) {
      storage.disable();
      Object.keys(store).forEach((key) => delete store[key]);
    }
    for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
      if (symbol.description === 'JEST_STATE_SYMBOL') delete globalThis[symbol];
    }
    Object.keys(process.env).forEach((name) => name in env || delete process.env[name]);
    Object.assign(process.env, env);
    Object.assign(process, { exit });
    Object.assign(globalThis, { console });
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return globalThis;
  }
};
