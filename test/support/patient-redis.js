'use strict';
// Loaded before a service (`node --require`): gives Redis ten seconds to answer instead of 50 ms, so that a machine that halts for
// a moment does not make the service count alone.
const Module = require('node:module');

const load = Module._load;
Module._load = function (name, ...others) {
  const loaded = load.call(this, name, ...others);
  if (name.endsWith('/quotas.module')) {
    loaded.QUOTA_STORE.find(({ provide }) => provide === loaded.REDIS_BUDGET).useValue = 10_000;
  }
  return loaded;
};
