import 'reflect-metadata';
import { CommandFactory, CommandRunnerService } from 'nest-commander';
import { loadEnvironmentFile } from '../runtime/environment';
import { PETSTORE } from '../runtime/messages';
import { settingNames } from '../settings';
import { CliModule } from './cli.module';
import { CommandFailure, report } from './command/failure';
import { operator } from './command/operator';
import { COMMANDER_OPTIONS, StoreConnection } from './command/command';
import { OutputFailure, isReaderGone, writeOutput } from './command/files';

const VERSION_OPTIONS = ['-v', '-V', '--version'];

async function main(): Promise<void> {
  loadEnvironmentFile(settingNames());
  if (VERSION_OPTIONS.includes(process.argv[2]!)) {
    process.argv.splice(2, Infinity, 'version');
  }
  const application = await CommandFactory.createWithoutRunning(CliModule.forActor(operator(process.env)), {
    ...COMMANDER_OPTIONS,
    logger: false,
    abortOnError: false,
  });
  showNameAsCalled(application.get(CommandRunnerService));
  try {
    await CommandFactory.runApplication(application);
  } finally {
    await application.close();
    await application.get(StoreConnection).close();
  }
}

function fail(error: unknown): never {
  process.exit(report(error));
}

/** The help can be typed as it is shown: `npx petstore keys issue`. */
function showNameAsCalled(runner: unknown): void {
  (runner as { commander: { name(text: string): void } }).commander.name(PETSTORE);
}

/** Exits after all output is flushed: writes to a pipe are asynchronous. */
function exitWhenFlushed(): void {
  writeOutput('', (error) => (error ? exitAfter(error) : process.exit(0)));
}

/** Exits when output can no longer be written; a closed pipe is not a failure. */
function exitAfter(error: Error): void {
  if (isReaderGone(error)) {
    process.exit(0);
  }
  fail(new OutputFailure(error));
}

// Commands with their own listener clean up first.
process.stdout.on('error', (error: Error) => process.stdout.listenerCount('error') > 1 || exitAfter(error));

// The event loop is empty, but the command has not finished: without this the exit code would report success.
process.once('beforeExit', () => fail(new CommandFailure('the command ended before its work was done.')));

main().then(exitWhenFlushed, fail);
