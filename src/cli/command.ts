import { CommandRunner, Option } from 'nest-commander';

/** The command of commander that nest-commander itself uses. */
type Command = Parameters<CommandRunner['setCommand']>[0];

export const BAD_USAGE = 2;

/** The arguments do not make a command; the message says what would. */
export class UsageError extends Error {}

/** A command that tells bad usage apart from failure: exit code 2 instead of 1. */
export abstract class PetstoreCommand extends CommandRunner {
  override setCommand(command: Command): this {
    command.exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : BAD_USAGE));
    command.showHelpAfterError('(--help tells what the command takes)');
    return super.setCommand(command);
  }
}

/** A name for commands that belong together; by itself it only tells what they are. */
export abstract class CommandGroup extends PetstoreCommand {
  override run(): Promise<void> {
    this.command.outputHelp({ error: true });
    process.exit(BAD_USAGE);
  }
}

/** A command whose answer is a table for people or JSON for programs. */
export abstract class ReportingCommand extends PetstoreCommand {
  @Option({ flags: '--json', description: 'print JSON, for programs' })
  parseJson(): boolean {
    return true;
  }
}
