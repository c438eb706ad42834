import { Inject } from '@nestjs/common';
import { CommandRunner, Option } from 'nest-commander';
import { PETSTORE } from '../../runtime/messages';
import { FORMATS, type Format, type OutputOptions } from './output';
import { BAD_USAGE } from './failure';
import { oneOf } from './option';
import { Store } from './store';

type Command = Parameters<CommandRunner['setCommand']>[0];

/** Base of all commands. */
export abstract class PetstoreCommand extends CommandRunner {
  /** Shown below the help, after the program's name. */
  protected abstract readonly examples: readonly string[];
  /** Shown between the options and the examples. */
  protected readonly explanation: string = '';

  override setCommand(command: Command): this {
    command.exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : BAD_USAGE));
    command.allowExcessArguments(false);
    command.addHelpText('after', () => {
      const lines = this.examples.map((example) => `  ${PETSTORE} ${example}\n`);
      return this.explanation + (lines.length === 0 ? '' : `\nExamples:\n${lines.join('')}`);
    });
    return super.setCommand(command);
  }
}

/** A group of subcommands; prints its help. */
export abstract class CommandGroup extends PetstoreCommand {
  protected override readonly examples: readonly string[] = [];

  override setCommand(command: Command): this {
    super.setCommand(command);
    // An excess argument is an unknown subcommand: see run().
    command.allowExcessArguments(true);
    return this;
  }

  override run([unknown]: string[]): Promise<void> {
    if (unknown !== undefined) {
      // Names what was probably meant. Commander does so by itself only for a command that does nothing.
      (this.command as Command & { unknownCommand(): never }).unknownCommand();
    }
    this.command.outputHelp({ error: true });
    process.exit(BAD_USAGE);
  }
}

/** A command that prints its result as a table, JSON or CSV. */
export abstract class ResultCommand extends PetstoreCommand {
  @Inject() protected readonly store!: Store;

  @Option({ flags: '-o, --output <format>', description: 'table (default), json or csv' })
  parseOutput(text: string): Format {
    return oneOf(FORMATS)(text);
  }

  @Option({ flags: '--json', description: 'short for --output json' })
  parseJson(): boolean {
    return true;
  }
}

export interface ConfirmedOptions extends OutputOptions {
  yes?: boolean;
}

/** A destructive command, which asks first. */
export abstract class ConfirmedCommand extends ResultCommand {
  @Option({ flags: '-y, --yes', description: 'do not ask' })
  parseYes(): boolean {
    return true;
  }
}
