import 'reflect-metadata';
import { setTimeout as pause } from 'node:timers/promises';
import { CommandFactory, CommandRunnerService } from 'nest-commander';
import {
  COMMANDER_OPTIONS,
  type Commander,
  finishUnlessInterrupted,
  listenForInterruption,
  operatorName,
  outputIsWritten,
  reportFailure,
} from '#libs/command-line';
import { UsageError, failureSettings } from '#libs/messages';
import { settingNames } from '../all-settings';
import { PETSTORE, VERSION } from '../program';
import { isValidUtf8, loadEnvironmentFile } from '../settings/environment';
import { explain } from '../runtime/failures';
import type { StopSignals } from '../runtime/stop-signals';
import { CliModule, SETTINGS_HELP } from './cli.module';
import { closeCommandDatabases } from './command-database';

const CLOSE_MS = 1_000;

Object.assign(failureSettings, { programName: 'petstore', explain });

export async function runCommandLine(signals: StopSignals): Promise<void> {
  listenForInterruption(signals);
  // Drop warnings that libraries such as ioredis print with `console.warn`, because the warnings would mix with the
  // output of the command.
  Object.assign(console, { warn: () => undefined });
  // Report an uncaught error here. Node itself would print all fields of the error, and the fields of a database error
  // can contain data of rows.
  process.on('uncaughtException', (error) => process.exit(reportFailure(error)));
  // Node emits `beforeExit` if nothing is left to wait for. A command that has not finished by then never finishes, so
  // exit with the code of a failure.
  process.once('beforeExit', () => process.exit(1));
  const code = await executeWithEnvironmentFile().then(() => 0, reportFailure);
  await outputIsWritten().then(
    () => process.exit(code),
    (error: unknown) => process.exit(code || reportFailure(error)),
  );
}

async function executeWithEnvironmentFile(): Promise<void> {
  loadEnvironmentFile(settingNames());
  if (!process.argv.every(isValidUtf8)) {
    throw new UsageError('an argument is not UTF-8.');
  }
  await executeCommand();
}

/** Executes the command of `process.argv` with the settings of `process.env`. Tests call this function, too. */
export async function executeCommand(): Promise<void> {
  const application = await CommandFactory.createWithoutRunning(
    await CliModule.forOperator(operatorName(process.env)),
    COMMANDER_OPTIONS,
  );
  const { commander } = application.get<unknown, { commander: Commander }>(CommandRunnerService);
  commander.name(PETSTORE).version(VERSION, '-v, --version').addHelpText('after', SETTINGS_HELP);
  try {
    await finishUnlessInterrupted(CommandFactory.runApplication(application));
  } finally {
    // Wait at most CLOSE_MS for the application to close. The application waits for busy connections, and an
    // interrupted statement may keep a connection busy for longer.
    const closed = application.close().catch(() => undefined);
    await Promise.race([closed, pause(CLOSE_MS, undefined, { ref: false })]);
    await closeCommandDatabases();
  }
}
