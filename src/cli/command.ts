import type { INestApplicationContext } from '@nestjs/common';
import { CommandRunner, Option } from 'nest-commander';
import { complaint } from '../runtime/complaint';
import { PETSTORE } from '../runtime/command-name';

/** The command of commander that nest-commander itself uses. */
type Command = Parameters<CommandRunner['setCommand']>[0];

export const BAD_USAGE = 2;

/** The arguments do not make a command; the message says what would. */
export class UsageError extends Error {}

/** How a message of commander about bad usage is written; a suggestion of its own stands on a second line there. */
export function writeUsageError(text: string, write: (text: string) => void): void {
  const line = text
    .replace(/^error: /, '')
    .trim()
    .replace(/\n(?=\(Did you mean [^\n]*$)/, ' ');
  write(complaint(`${line} (see --help)`));
}

/** A command that tells bad usage apart from failure: exit code 2 instead of 1. */
export abstract class PetstoreCommand extends CommandRunner {
  override setCommand(command: Command): this {
    command.exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : BAD_USAGE));
    command.allowExcessArguments(false);
    return super.setCommand(command);
  }
}

/** What is shown below the help of a command. */
export function examples(...commands: string[]): string {
  return `\nExamples:\n${commands.map((command) => `  ${PETSTORE} ${command}`).join('\n')}\n`;
}

/** A name for commands that belong together; by itself it only tells what they are. */
export abstract class CommandGroup extends PetstoreCommand {
  override setCommand(command: Command): this {
    super.setCommand(command);
    // What is one too many here is a command that does not exist, which run() can say better.
    command.allowExcessArguments(true);
    return this;
  }

  override run([unknown]: string[]): Promise<void> {
    if (unknown !== undefined) {
      const known = this.command.commands.map((command) => command.name()).join(', ');
      throw new UsageError(`${this.command.name()} has no command ${unknown}. It has: ${known}.`);
    }
    this.command.outputHelp({ error: true });
    process.exit(BAD_USAGE);
  }
}

/** A command whose answer is a table for people or JSON for programs. */
export abstract class ReportingCommand extends PetstoreCommand {
  @Option({ flags: '--json', description: 'print JSON' })
  parseJson(): boolean {
    return true;
  }
}

/** Does a command's work with the services of the application, which are loaded only now: --help must not wait for them. */
export async function administer<Result>(
  work: (services: INestApplicationContext) => Promise<Result>,
): Promise<Result> {
  const { withServices } = await import('./administration.js');
  return withServices(work);
}
