import 'reflect-metadata';
import { CommandFactory } from 'nest-commander';
import { loadEnvironmentFile } from '../runtime/start';
import { CliModule } from './cli.module';
import { BAD_USAGE, writeUsageError } from './command';
import { fail } from './failure-output';
import { OutputFailure, isReaderGone, writeOutput } from './standard-output';

/** Asked for by an option, as every program can be. */
const VERSION_OPTIONS = ['-v', '-V', '--version'];

/** The admin's door. */
async function main(): Promise<void> {
  loadEnvironmentFile();
  if (VERSION_OPTIONS.includes(process.argv[2]!)) {
    process.argv.splice(2, Infinity, 'version');
  }
  await CommandFactory.run(CliModule, {
    cliName: 'petstore',
    logger: false,
    outputConfiguration: { outputError: writeUsageError, writeOut: (text) => writeOutput(text) },
    errorHandler: (error) => process.exit((error as { exitCode?: number }).exitCode === 0 ? 0 : BAD_USAGE),
    serviceErrorHandler: (error) => fail(error),
  });
}

/** Output into a pipe is written later; to leave before would cut it off. */
function leave(): void {
  writeOutput('', (error) => (error ? endWithout(error) : process.exit(0)));
}

/** Ends the process when its output cannot be written any more. Whoever reads it may just have had enough of it. */
function endWithout(error: Error): void {
  if (isReaderGone(error)) {
    process.exit(0);
  }
  void fail(new OutputFailure(error));
}

// A command that listens itself has something to put away first.
process.stdout.on('error', (error: Error) => process.stdout.listenerCount('error') > 1 || endWithout(error));

main().then(leave, fail);
