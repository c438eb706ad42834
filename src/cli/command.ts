import type { INestApplicationContext } from '@nestjs/common';
import { CommandRunner, Option } from 'nest-commander';
import { complaint } from '../runtime/complaint';
import { PETSTORE } from '../runtime/command-name';
import { asksForJson, failureAsJson } from './failure-output';
import { FORMATS, type Format, type OutputOptions } from './output';
import { UsageError } from './usage-error';

export { UsageError } from './usage-error';

/** The command of commander that nest-commander itself uses. */
type Command = Parameters<CommandRunner['setCommand']>[0];

export const BAD_USAGE = 2;

/** How a message of commander about bad usage is written; a suggestion of its own stands on a second line there. */
export function writeUsageError(text: string, write: (text: string) => void): void {
  const line = text
    .replace(/^error: /, '')
    .trim()
    .replace(/\n(?=\(Did you mean [^\n]*$)/, ' ');
  const message = `${line} (see --help)`;
  write(asksForJson(process.argv) ? failureAsJson('usage_error', message) : complaint(message));
}

/** A command that tells bad usage apart from failure: exit code 2 instead of 1. */
export abstract class PetstoreCommand extends CommandRunner {
  /** How it is used, without the program's name; shown below its help. */
  protected abstract readonly examples: readonly string[];

  override setCommand(command: Command): this {
    command.exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : BAD_USAGE));
    command.allowExcessArguments(false);
    command.addHelpText('after', () => {
      const lines = this.examples.map((example) => `  ${PETSTORE} ${example}\n`);
      return lines.length === 0 ? '' : `\nExamples:\n${lines.join('')}`;
    });
    return super.setCommand(command);
  }
}

/** A name for commands that belong together; by itself it only tells what they are. */
export abstract class CommandGroup extends PetstoreCommand {
  /** Its commands have them. */
  protected override readonly examples: readonly string[] = [];

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

/** A command that answers with a table for people, or as JSON, YAML or CSV for programs. */
export abstract class ReportingCommand extends PetstoreCommand {
  @Option({ flags: '-o, --output <format>', description: 'table (default), json, yaml or csv' })
  parseOutput(text: string): Format {
    const format = FORMATS.find((known) => known === text);
    if (format === undefined) {
      throw new UsageError(`--output takes ${FORMATS.join(', ')}, not "${text}".`);
    }
    return format;
  }

  @Option({ flags: '--json', description: 'short for --output json' })
  parseJson(): boolean {
    return true;
  }

  @Option({ flags: '--columns <names>', description: 'only these columns, in this order: id,name' })
  parseColumns(text: string): string[] {
    return text.split(',');
  }
}

/** A command that answers with many things. */
export abstract class ListingCommand extends ReportingCommand {
  @Option({ flags: '--sort <column>', description: 'sort by this column; -column sorts downwards' })
  parseSort(text: string): string {
    return text;
  }
}

export interface ChangeOptions extends OutputOptions {
  reason?: string;
}

/** A command that changes something of which the audit log has an entry. */
export abstract class ChangingCommand extends ReportingCommand {
  @Option({ flags: '--reason <text>', description: 'why, for the audit log' })
  parseReason(text: string): string {
    if (text.trim() === '' || text.length > 500) {
      throw new UsageError('--reason takes 1 to 500 characters.');
    }
    return text;
  }
}

export interface ConfirmedOptions extends ChangeOptions {
  yes?: boolean;
}

/** A command that destroys or cuts off something, and asks before it does. */
export abstract class ConfirmedCommand extends ChangingCommand {
  @Option({ flags: '-y, --yes', description: 'do not ask' })
  parseYes(): boolean {
    return true;
  }
}

type Work<Result> = (services: INestApplicationContext) => Promise<Result>;

/**
 * Does a command's work with the services of the application, which are loaded only now: --help must not wait for them.
 * @param reason why something is changed, for the audit log
 */
export async function administer<Result>(work: Work<Result>, reason?: string): Promise<Result> {
  const { withServices } = await import('./administration.js');
  const { STORE_MODULES } = await import('./store-modules.js');
  return withServices(work, reason, STORE_MODULES);
}

/** The same for clients, keys, limits and the audit log alone, which take half as long to load. */
export async function administerAccounts<Result>(work: Work<Result>, reason?: string): Promise<Result> {
  const { withServices } = await import('./administration.js');
  return withServices(work, reason, []);
}
