import 'reflect-metadata';
import { setTimeout as pause } from 'node:timers/promises';
import { CommandFactory, CommandRunnerService } from 'nest-commander';
import { loadEnvironmentFile } from '../runtime/environment';
import { PETSTORE } from '../runtime/messages';
import type { StopSignals } from '../runtime/stop-signals';
import { settingNames } from '../settings';
import { CliModule } from './cli.module';
import { COMMANDER_OPTIONS, closeDatabases } from './command/command';
import { endOn, isEnding, untilEnded } from './command/ending';
import { CommandFailure, reportFailure } from './command/failure';
import { outputFailure, writeOutput } from './command/files';
import { operator } from './command/operator';

const VERSION_OPTIONS = ['-v', '-V', '--version'];
/** How long an interrupted statement may keep the connections. */
const STATEMENT_MS = 1_000;

/** Runs the command of this process, and ends it. */
export async function runCommandLine(signals: StopSignals): Promise<void> {
  endOn(signals);
  // What a library prints, as ioredis does of a password that it needs not, is no part of a command's output.
  Object.assign(console, { warn: () => undefined });
  // The event loop is empty, but the command has not finished: without this the exit code would report success.
  process.once('beforeExit', () => {
    process.exit(reportFailure(new CommandFailure('the command ended before its work was done.')));
  });
  const code = await executeCommand().then(() => 0, reportFailure);
  // Writes to a pipe are asynchronous.
  writeOutput('', (error) => process.exit(error && code === 0 ? reportFailure(outputFailure(error)) : code));
}

async function executeCommand(): Promise<void> {
  loadEnvironmentFile(settingNames());
  if (VERSION_OPTIONS.includes(process.argv[2]!)) {
    process.argv.splice(2, Infinity, 'version');
  }
  const application = await CommandFactory.createWithoutRunning(
    await CliModule.forActor(operator(process.env)),
    {
      ...COMMANDER_OPTIONS,
      logger: false,
      abortOnError: false,
    },
  );
  showNameAsCalled(application.get(CommandRunnerService));
  try {
    await untilEnded(CommandFactory.runApplication(application));
  } finally {
    const closed = application.close();
    await (isEnding() ? Promise.race([closed.catch(() => undefined), pause(STATEMENT_MS)]) : closed);
    await closeDatabases();
  }
}

/** The help can be typed as it is shown: `npx petstore keys issue`. */
function showNameAsCalled(runner: unknown): void {
  (runner as { commander: { name(text: string): void } }).commander.name(PETSTORE);
}
