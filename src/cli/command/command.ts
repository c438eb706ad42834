import { Inject } from '@nestjs/common';
import { CommandRunner } from 'nest-commander';
import { PETSTORE } from '../../runtime/messages';
import { FORMATS, type Format } from '../output/output';
import { BAD_USAGE } from './failure';
import { Flag, Value, anyText, list, oneOf, shortText } from './option';
import { Store } from './store';

type Command = Parameters<CommandRunner['setCommand']>[0];

/** Base of all commands. Its properties hold the values of its options when it runs. */
export abstract class PetstoreCommand extends CommandRunner {
  /** Shown below the help, after the program's name. */
  protected abstract readonly examples: readonly string[];
  /** Shown between the options and the examples. */
  protected readonly explanation: string = '';

  override setCommand(command: Command): this {
    command.exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : BAD_USAGE));
    command.allowExcessArguments(false);
    command.hook('preAction', () => void Object.assign(this, command.opts()));
    command.on('beforeHelp', () => {
      const former = command.options.filter(({ description }) => description === '');
      former.forEach((option) => option.hideHelp());
      // Only a hidden option can stand for the position, which reads as required without it.
      if (former.length > 0) {
        command.usage(command.usage().replace(/\[(\w+)\]$/, '<$1>'));
      }
    });
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

/** A command that prints its result as a table, JSON, YAML or CSV. */
export abstract class ResultCommand extends PetstoreCommand {
  @Inject() protected readonly store!: Store;

  @Value('-o, --output <format>', 'table (default), json, yaml or csv', oneOf(FORMATS)) output?: Format;
  @Flag('--json', 'short for --output json') json?: boolean;
}

/** A command that prints a list, and changes nothing. */
export abstract class ListingCommand extends ResultCommand {
  @Value('--columns <names>', 'only these columns, in this order: id,name', list) columns?: string[];
  @Value('--sort <column>', 'sort by this column; -column sorts in descending order', anyText) sort?: string;
}

/** A command whose change is recorded in the audit log. */
export abstract class ChangingCommand extends ResultCommand {
  @Value('--reason <text>', 'why, for the audit log', shortText(500)) reason?: string;
}

/** A destructive command, which asks first. */
export abstract class ConfirmedCommand extends ChangingCommand {
  @Flag('-y, --yes', 'do not ask') yes?: boolean;
}
