'use strict';

// Node loads this file before any other (`NODE_OPTIONS`). The service passes few variables to its database, and tests pass few to
// processes. But the time, the time zone and the locale of a machine are everywhere, so every child process gets their variables.
const { existsSync, readdirSync, rmSync } = require('node:fs');
const { basename } = require('node:path');
const { ChildProcess } = require('node:child_process');

/** Programs that do not start with libfaketime. These have the real time. */
const WITHOUT_FAKETIME = /^(redis-(server|cli)|chromium)/;

const SHARED_MEMORY = '/dev/shm';

/**
 * Removes libfaketime's files of processes that were killed. A new process can get the id of a killed one, and it ends with an error
 * if that file belongs to another user.
 */
function removeFilesOfKilled() {
  if (process.env.FAKETIME === undefined || process.getuid() !== 0) return;
  for (const name of readdirSync(SHARED_MEMORY)) {
    const [, pid] = /faketime_\w+_(\d+)$/.exec(name) ?? [];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) rmSync(`${SHARED_MEMORY}/${name}`, { force: true });
  }
}

const { spawn } = ChildProcess.prototype;

ChildProcess.prototype.spawn = function spawnAsOnTheMachine(options) {
  const given = options.envPairs ?? [];
  const missing = process.env.ANYWHERE_VARIABLES.split(' ')
    .filter((name) => !given.some((pair) => pair.startsWith(`${name}=`)))
    .map((name) => `${name}=${process.env[name]}`);
  const keeps = WITHOUT_FAKETIME.test(basename(options.file))
    ? (pair) => !pair.startsWith('LD_PRELOAD=')
    : () => true;
  removeFilesOfKilled();
  return spawn.call(this, { ...options, envPairs: [...given, ...missing].filter(keeps) });
};
