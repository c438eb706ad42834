'use strict';
// Runs commands of the installed command line one after the other in this one process, each as a process of its own would be
// run: with its own arguments, environment and working directory, up to its exit. To start a process for each costs ten times
// as much. Messages are `{ args, environment, cwd, columns }`; each is answered `{ code, stdout, stderr }`. The first argument
// is the script of the installation.
const { AsyncLocalStorage } = require('node:async_hooks');
const { dirname, join } = require('node:path');

const MAIN = join(dirname(process.argv[2]), '../dist/src/cli/main.js');
const EXITED = Symbol('exited');
const exit = process.exit;
/** What a command has printed, and what its exit calls; what goes on after its exit is its own, and not the next one's. */
const running = new AsyncLocalStorage();

process.argv[1] = process.argv[2];
process.exit = (code = process.exitCode ?? 0) => {
  running.getStore().settle(code);
  throw EXITED;
};
for (const name of ['stdout', 'stderr']) {
  process[name].write = (text, encoding, done) => {
    running.getStore()[name] += text.toString();
    (typeof encoding === 'function' ? encoding : done)?.();
    return true;
  };
}
for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, (error) => {
    if (error === EXITED) return;
    running.getStore().stderr += error.stack;
    running.getStore().settle(1);
  });
}

async function run({ args, environment, cwd, columns }) {
  process.argv.splice(2, Infinity, ...args);
  process.env = environment;
  process.chdir(cwd);
  Object.assign(process.stdout, { isTTY: columns !== undefined, columns });
  const command = { stdout: '', stderr: '' };
  const code = await new Promise((settle) => {
    running.run(Object.assign(command, { settle }), () => require(MAIN));
  });
  const { stdout, stderr } = command;
  process.removeAllListeners('beforeExit');
  process.stdout.removeAllListeners('error');
  process.exitCode = undefined;
  delete require.cache[MAIN];
  return { code, stdout, stderr };
}

let last = Promise.resolve();
process.on('message', (command) => {
  last = last.then(async () => process.send(await run(command)));
});
process.once('disconnect', () => exit());
