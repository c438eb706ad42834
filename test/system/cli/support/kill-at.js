'use strict';
// Loaded before a command (`node --require`): ends it, as kill -9 does, at the step that KILL_AT counts to. Steps are the
// last file of a cluster that is unpacked, every change of a folder's name, and the removal of what is left of the restore.
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

countIn(promises, 'open', (path) => path.endsWith('/data/global/pg_control'));
countIn(fs, 'renameSync', (path) => /\/(init-[^/]+|data)$/.test(path));
countIn(fs, 'rmSync', (path) => path.endsWith('/restored'));
