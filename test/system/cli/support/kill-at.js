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
    if (String(args[0]).startsWith(DATA_DIR) && isStep(args[0]) && ++steps === Number(KILL_AT)) {
      process.kill(process.pid, 'SIGKILL');
    }
    return original(...args);
  };
}

countIn(promises, 'open', (path) => /\/data\/(PG_VERSION|global\/pg_control)$/.test(path));
countIn(fs, 'renameSync', () => true);
countIn(fs, 'rmSync', () => true);
