import { Inject } from '@nestjs/common';
import { CommandRunner, Option } from 'nest-commander';
import { PETSTORE, formatError } from '../../runtime/messages';
import { asksForJson, failureAsJson } from '../output/failure-output';
import { FORMATS, type Format, type OutputOptions } from '../output/output';
import { Store } from './store';
import { UsageError } from './command-failure';

type Command = Parameters<CommandRunner['setCommand']>[0];

export const BAD_USAGE = 2;

/** Writes commander's usage errors in our format. It puts suggestions on a second line. */
export function writeUsageError(text: string, write: (text: string) => void): void {
  const line = text
    .replace(/^error: /, '')
    .trim()
    .replace(/\n(?=\(Did you mean [^\n]*$)/, ' ');
  const message = `${line} (see --help)`;
  write(asksForJson(process.argv) ? failureAsJson('usage_error', message) : formatError(message));
}

/** Base of all commands. Usage errors exit with 2, failures with 1. */
export abstract class PetstoreCommand extends CommandRunner {
  /** Shown below the help, after the program's name. */
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

/** A group of subcommands; prints its help. */
export abstract class CommandGroup extends PetstoreCommand {
  protected override readonly examples: readonly string[] = [];

  override setCommand(command: Command): this {
    super.setCommand(command);
    // An excess argument is an unknown subcommand, for which run() has a better message.
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

/** A command that prints its result as a table, JSON, YAML or CSV. */
export abstract class ResultCommand extends PetstoreCommand {
  @Inject() protected readonly store!: Store;

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
}

/**
 * A command that shows something. Only such commands take `--columns`: which columns there are is known when the result is,
 * and what is refused then must not have changed anything, nor hide a key that is shown only once.
 */
export abstract class ReportingCommand extends ResultCommand {
  @Option({ flags: '--columns <names>', description: 'only these columns, in this order: id,name' })
  parseColumns(text: string): string[] {
    return text.split(',');
  }
}

/** A command that prints a list. */
export abstract class ListingCommand extends ReportingCommand {
  @Option({ flags: '--sort <column>', description: 'sort by this column; -column sorts in descending order' })
  parseSort(text: string): string {
    return text;
  }
}

export interface ChangeOptions extends OutputOptions {
  reason?: string;
}

/** A command whose change is recorded in the audit log. */
export abstract class ChangingCommand extends ResultCommand {
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

/** A destructive command, which asks first. */
export abstract class ConfirmedCommand extends ChangingCommand {
  @Option({ flags: '-y, --yes', description: 'do not ask' })
  parseYes(): boolean {
    return true;
  }
}
