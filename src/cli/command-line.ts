import 'reflect-metadata';
import { setTimeout as pause } from 'node:timers/promises';
import { CommandFactory, CommandRunnerService } from 'nest-commander';
import { isDecoded, loadEnvironmentFile } from '../runtime/environment';
import { PETSTORE, VERSION } from '../runtime/messages';
import type { StopSignals } from '../runtime/stop-signals';
import { settingNames } from '../settings';
import { CliModule } from './cli.module';
import { COMMANDER_OPTIONS, type Commander, closeStores } from './command/command';
import { finishUnlessInterrupted, listenForInterruption, reportFailure } from './command/failure';
import { UsageError } from '../operator-error';
import { outputIsWritten } from './command/files';
import { operator } from './command/operator';

/** How long it may take to close the connections. */
const CLOSE_MS = 1_000;

/** Runs the command of this process, and ends it. */
export async function runCommandLine(signals: StopSignals): Promise<void> {
  listenForInterruption(signals);
  // A command's output has no warnings of libraries, such as that of ioredis about an unneeded password.
  Object.assign(console, { warn: () => undefined });
  // Node's own report would show all fields of an error, and some fields of the database's errors repeat rows.
  process.on('uncaughtException', (error) => process.exit(reportFailure(error)));
  // If the event loop is empty before the command has finished, that is no success.
  process.once('beforeExit', () => process.exit(1));
  const code = await executeCommand().then(() => 0, reportFailure);
  await outputIsWritten().then(
    () => process.exit(code),
    (error: unknown) => process.exit(code || reportFailure(error)),
  );
}

async function executeCommand(): Promise<void> {
  loadEnvironmentFile(settingNames());
  if (!process.argv.every(isDecoded)) {
    throw new UsageError('an argument is not UTF-8.');
  }
  const application = await CommandFactory.createWithoutRunning(
    await CliModule.forActor(operator(process.env)),
    COMMANDER_OPTIONS,
  );
  // The help can be typed as it is shown: `npx petstore keys issue`.
  const { commander } = application.get<unknown, { commander: Commander }>(CommandRunnerService);
  commander.name(PETSTORE).version(VERSION, '-v, --version');
  try {
    await finishUnlessInterrupted(CommandFactory.runApplication(application));
  } finally {
    // A statement that was interrupted may keep the connections.
    await Promise.race([application.close().catch(() => undefined), pause(CLOSE_MS)]);
    await closeStores();
  }
}
