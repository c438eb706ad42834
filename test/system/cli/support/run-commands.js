'use strict';
// Runs the commands of standard input (a JSON array of arrays of arguments) one after the other in this one process, as
// if it printed to a small terminal. Prints what each of them printed, as a JSON array. The first argument of this
// script is the folder of the installation.
require('reflect-metadata');
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { CommandFactory, CommandRunnerService } = require('nest-commander');

const { CliModule } = require(join(process.argv[2], 'dist/src/cli/cli.module.js'));

async function outputOf(args) {
  const options = { cliName: 'petstore', serviceErrorHandler: (error) => Promise.reject(error) };
  const application = await CommandFactory.createWithoutRunning(CliModule, options);
  let output = '';
  const write = process.stdout.write;
  process.stdout.write = (text) => ((output += text), true);
  try {
    await application.get(CommandRunnerService).run(['node', 'petstore', ...args]);
  } finally {
    process.stdout.write = write;
  }
  return output;
}

async function main() {
  const outputs = [];
  const commands = JSON.parse(readFileSync(0, 'utf8'));
  Object.assign(process.stdout, { isTTY: true, columns: 40 });
  for (const args of commands) {
    outputs.push(await outputOf(args));
  }
  process.stdout.write(JSON.stringify(outputs));
}

main().catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exitCode = 1;
});
