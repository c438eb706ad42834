'use strict';

// Node loads this before everything else (`NODE_OPTIONS`). The service gives its database few variables, and tests give processes
// few; a machine's time, zone and locale are everywhere, so every child process gets the variables that stand for these.
const { ChildProcess } = require('node:child_process');

const { spawn } = ChildProcess.prototype;

ChildProcess.prototype.spawn = function spawnAsOnTheMachine(options) {
  const given = options.envPairs ?? [];
  const missing = process.env.ANYWHERE_VARIABLES.split(' ')
    .filter((name) => !given.some((pair) => pair.startsWith(`${name}=`)))
    .map((name) => `${name}=${process.env[name]}`);
  return spawn.call(this, { ...options, envPairs: [...given, ...missing] });
};
