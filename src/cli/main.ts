import 'reflect-metadata';
import { CommandFactory } from 'nest-commander';
import { loadEnvironmentFile } from '../runtime/start';
import { CliModule } from './cli.module';
import { BAD_USAGE, UsageError, writeUsageError } from './command';
import { CommandFailure } from './command-failure';
import { complaint } from '../runtime/complaint';
import { OutputFailure, isReaderGone, writeOutput } from './standard-output';

/** The admin's door. */
async function main(): Promise<void> {
  loadEnvironmentFile();
  await CommandFactory.run(CliModule, {
    cliName: 'petstore',
    version: '1.0.0',
    logger: false,
    outputConfiguration: { outputError: writeUsageError, writeOut: (text) => writeOutput(text) },
    errorHandler: (error) => process.exit((error as { exitCode?: number }).exitCode === 0 ? 0 : BAD_USAGE),
    serviceErrorHandler: (error) => fail(error),
  });
}

async function fail(error: unknown): Promise<never> {
  if (error instanceof UsageError) {
    process.stderr.write(complaint(error.message));
    process.exit(BAD_USAGE);
  }
  if (error instanceof CommandFailure) {
    process.stderr.write(complaint(error.message));
    process.exit(error.exitCode);
  }
  const { reportFailure } = await import('../runtime/failures.js');
  return reportFailure(error);
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
