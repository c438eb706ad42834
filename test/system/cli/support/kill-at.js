'use strict';
// Loaded before a command (`node --require`): ends it, as kill -9 does, at the step that KILL_AT counts to. Steps are the
// first and the last file of a cluster that is unpacked, and every change of names in the folder of the data.
const fs = require('node:fs');
const promises = require('node:fs/promises');

const { KILL_AT, DATA_DIR } = process.env;
let steps = 0;

function countIn(functions, name, isStep) {
  const original = functions[name];
  functions[name] = (...args) => {
    const path = String(args[0]);
    if (path.startsWith(DATA_DIR) && isStep(path) && ++steps === Number(KILL_AT)) {
      process.kill(process.pid, 'SIGKILL');
    }
    return original(...args);
  };
}

// Processes that die under the lock, or as its holders, are the subject of the library's own tests.
const isOfData = (path) => !/\/(lock|holders)(\/|$)/.test(path);

countIn(promises, 'open', (path) => /\/data\/(PG_VERSION|global\/pg_control)$/.test(path));
countIn(fs, 'renameSync', isOfData);
countIn(fs, 'rmSync', isOfData);
