import { Inject, SetMetadata } from '@nestjs/common';
import { CommandRunner } from 'nest-commander';
import { UsageError } from '#libs/messages';
import { writeUsageError } from './failure';
import { writeOutput } from './files';
import type { OutputOptions } from './output';

export type Commander = Parameters<CommandRunner['setCommand']>[0];
type Help = ReturnType<Commander['createHelp']>;
export type Option = Commander['options'][number];

/**
 * Minimum width, in characters, of the column of descriptions in the help. If the terminal leaves less than this width,
 * the descriptions are not wrapped.
 */
const NARROWEST_COLUMN = 15;

function rethrow(error: Error): never {
  throw error;
}

/**
 * Options for nest-commander. `writeUsageError` prints usage errors in the same form as all other errors of the command
 * line. Any error that is no usage error is thrown to the caller.
 */
export const COMMANDER_OPTIONS = {
  logger: false as const,
  abortOnError: false,
  outputConfiguration: { outputError: writeUsageError, writeOut: writeOutput },
  helpConfiguration: {
    subcommandTerm: (command: Commander) => command.name(),
    wrap(this: Help, text: string, width: number, indentation: number): string {
      const { wrap } = Object.getPrototypeOf(this) as Help;
      return wrap.call(this, text, width, indentation, NARROWEST_COLUMN);
    },
    formatHelp(this: Help, command: Commander, help: Help): string {
      // For an unknown subcommand, commander prints the help of the parent command. Throw an error that names the
      // unknown subcommand instead.
      const [name] = command.args;
      if (command.commands.length > 0 && name !== undefined && !name.startsWith('-')) {
        subcommandOf(command, name);
      }
      const { formatHelp } = Object.getPrototypeOf(this) as Help;
      return formatHelp.call(this, command, help);
    },
  },
  errorHandler: rethrow,
  serviceErrorHandler: rethrow,
};

/**
 * Changes the error for an invalid value, so that its message begins with the name of the option or argument.
 * Commander's own message would repeat the value, which may be secret.
 */
function nameInErrors(option: Option): void {
  const { parseArg, long = `<${option.name()}>` } = option;
  if (parseArg !== undefined) {
    option.argParser((text, before) => {
      try {
        return parseArg(text, before);
      } catch (error) {
        throw new UsageError(`${long}: ${(error as Error).message}`);
      }
    });
  }
}

interface Declaration {
  readonly examples: readonly string[];
  /** Declares options, and arguments that need a parser, with commander's own methods. */
  declare?(command: Commander): void;
  /** If true, the command has the option `--json`. The default is true. */
  readonly takesJson?: boolean;
  /** If true, the command has the option `--yes`, which skips the confirmation of a dangerous action. */
  readonly takesYes?: boolean;
}

/**
 * Returns the subcommand with this name. If no subcommand has the name, throws the same error as commander, which
 * suggests a similar name.
 */
export function subcommandOf(command: Commander, name: string): Commander {
  const found = command.commands.find((one) => one.name() === name);
  if (found !== undefined) {
    return found;
  }
  command.args = [name];
  return (command as Commander & { unknownCommand(): never }).unknownCommand();
}

function rootOf(command: Commander): Commander {
  return command.parent === null ? command : rootOf(command.parent);
}

const DEFAULT_WIDTH = 80;

/** Breaks a long example before its options, with backslashes, so that a shell still reads one command. */
function exampleLines(example: string, width: number): string {
  const lines: string[] = [];
  for (const part of example.split(/ (?=[-<>|])/)) {
    const longer = `${lines.at(-1)} ${part}`;
    if (lines.length > 0 && longer.length <= width - ' \\'.length) {
      lines.splice(-1, 1, longer);
    } else {
      lines.push(`${lines.length === 0 ? '  ' : '    '}${part}`);
    }
  }
  return lines.join(' \\\n');
}

function applyDeclaration(command: Commander, declaration: Declaration): void {
  const { examples, takesJson = true, takesYes = false } = declaration;
  declaration.declare?.(command);
  [...command.options, ...command.registeredArguments].forEach((one) => nameInErrors(one as Option));
  command.addHelpText('after', ({ error }) => {
    const { getErrHelpWidth, getOutHelpWidth } = command.configureOutput();
    const width = (error ? getErrHelpWidth : getOutHelpWidth)?.() ?? DEFAULT_WIDTH;
    const lines = examples.map((example) => exampleLines(`${rootOf(command).name()} ${example}`, width));
    return lines.length > 0 ? ['\nExamples:', ...lines].join('\n') : '';
  });
  if (takesJson) {
    command.option('--json', 'print JSON, also for failures');
  }
  if (takesYes) {
    command.option('-y, --yes', 'do not ask for confirmation');
  }
}

export abstract class BaseCommand extends CommandRunner implements Declaration {
  abstract readonly examples: readonly string[];

  override setCommand(command: Commander): this {
    const { outputConfiguration, helpConfiguration } = COMMANDER_OPTIONS;
    command.exitOverride().configureOutput(outputConfiguration).configureHelp(helpConfiguration);
    command.allowExcessArguments(false);
    applyDeclaration(command, this);
    return super.setCommand(command);
  }

  /**
   * Calls `execute` with the values that commander has parsed. The parameters with which nest-commander calls `run` are
   * not used, because the arguments among them are unparsed text.
   */
  override run(): Promise<void> {
    return this.execute(...inputsOf(this.command));
  }

  protected abstract execute(...inputs: never[]): Promise<void>;
}

function inputsOf(command: Commander): never[] {
  return [...(command.processedArgs as never[]), command.opts() as never];
}

export abstract class StoreOpener {
  abstract open(): Promise<void>;
}

/** Base of commands that need the database. The database is opened after the arguments have been checked. */
export abstract class StoreCommand extends BaseCommand {
  @Inject() private readonly store!: StoreOpener;

  override async run(): Promise<void> {
    await this.store.open();
    await super.run();
  }
}

export interface SubcommandDeclaration extends Declaration {
  description: string;
  withoutStore?: boolean;
}

const SUBCOMMAND = 'command-line:subcommand';

/**
 * Makes a method of a CommandGroup a subcommand with the name of the method. The method receives the subcommand's
 * arguments one by one, and an object with the subcommand's options as its last parameter.
 */
export const Subcommand = (declaration: SubcommandDeclaration) => SetMetadata(SUBCOMMAND, declaration);

type Method = (...inputs: never[]) => Promise<void>;

/** Base of commands with subcommands, such as `keys issue`. Each method with `@Subcommand` is a subcommand. */
export abstract class CommandGroup extends BaseCommand {
  readonly examples = [];
  readonly takesJson = false;
  @Inject() private readonly store!: StoreOpener;

  declare(group: Commander): void {
    const methods = this as unknown as Record<string, Method>;
    for (const method of Object.getOwnPropertyNames(Object.getPrototypeOf(this))) {
      const declaration = Reflect.getMetadata(SUBCOMMAND, methods[method]!) as
        SubcommandDeclaration | undefined;
      if (declaration !== undefined) {
        const { description, withoutStore } = declaration;
        const command = group.command(method).description(description);
        applyDeclaration(command, declaration);
        command.action(async () => {
          if (!withoutStore) {
            await this.store.open();
          }
          await methods[method]!(...inputsOf(command));
        });
      }
    }
    // Allow too many arguments. Otherwise commander would take an unknown subcommand for one argument too many, and its
    // error would not name the subcommand.
    group.allowExcessArguments(true);
  }

  /**
   * Prints the help, because no subcommand was given. If an unknown subcommand was given, `formatHelp` (see
   * COMMANDER_OPTIONS) throws an error that names the unknown subcommand.
   */
  protected execute(): Promise<void> {
    return this.command.help({ error: true });
  }
}

export interface ConfirmedOptions extends OutputOptions {
  yes?: boolean;
}
