import { Inject, Injectable, SetMetadata } from '@nestjs/common';
import { CommandRunner } from 'nest-commander';
import { DataSource } from 'typeorm';
import { assertKnownMigrations, migrationStates } from '#libs/database';
import { type OpenDatabase, commandOptions, migrateToNewest, openDatabase } from '../../runtime/data-source';
import { PETSTORE } from '../../runtime/messages';
import { readSettings } from '../../settings';
import { interrupted, writeUsageError } from './failure';
import { OperatorError, UsageError } from '../../operator-error';
import { writeOutput } from './files';
import type { OutputOptions } from './output';

/** A command as the package `commander` has it. */
export type Commander = Parameters<CommandRunner['setCommand']>[0];
type Help = ReturnType<Commander['createHelp']>;
export type Option = Commander['options'][number];

/** Descriptions narrower than this are not wrapped: half a terminal of fifty columns has to do. */
const NARROWEST_COLUMN = 15;

function rethrow(error: Error): never {
  throw error;
}

/** What commander writes goes where all output goes, and its errors to whoever runs a command. */
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
  },
  errorHandler: rethrow,
  serviceErrorHandler: rethrow,
};

/** Of an invalid value, what its parser says is reported. Commander would say where it is from, and repeat it. */
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

/** What a command is, beside its name and description. */
interface Declaration {
  /** Shown below the help, after the program's name. */
  readonly examples: readonly string[];
  /** Declares options, and arguments that are more than a text, as commander does; in a hook, what it cannot check. */
  declare?(command: Commander): void;
  /** False for what prints no result, and for what declares the option itself. */
  readonly takesJson?: boolean;
  /** True for what destroys or cuts off, and its opposite, which takes the same options. */
  readonly takesYes?: boolean;
}

function complete(command: Commander, declaration: Declaration): void {
  const { examples, takesJson = true, takesYes = false } = declaration;
  declaration.declare?.(command);
  [...command.options, ...command.registeredArguments].forEach((one) => nameInErrors(one as Option));
  const lines = examples.map((example) => `\n  ${PETSTORE} ${example}`).join('');
  command.addHelpText('after', lines && `\nExamples:${lines}`);
  if (takesJson) {
    command.option('--json', 'print JSON, failures too');
  }
  if (takesYes) {
    command.option('-y, --yes', 'do not ask');
  }
}

/** Base of all commands. */
export abstract class PetstoreCommand extends CommandRunner implements Declaration {
  abstract readonly examples: readonly string[];

  override setCommand(command: Commander): this {
    const { outputConfiguration, helpConfiguration } = COMMANDER_OPTIONS;
    // Subcommands inherit it.
    command.exitOverride().configureOutput(outputConfiguration).configureHelp(helpConfiguration);
    command.allowExcessArguments(false);
    complete(command, this);
    return super.setCommand(command);
  }

  /** nest-commander passes on arguments as they were typed, and options of its own decorators only. */
  override run(): Promise<void> {
    return this.execute(...inputsOf(this.command));
  }

  protected abstract execute(...inputs: never[]): Promise<void>;
}

/** The values of its arguments, then of its options. */
function inputsOf(command: Commander): never[] {
  return [...(command.processedArgs as never[]), command.opts() as never];
}

/** The databases of this process, also those that are only being opened. */
const opened: Promise<OpenDatabase>[] = [];

/** @param settings by default those of the environment */
export function openStore(
  settings: Parameters<typeof openDatabase>[0] = readSettings(process.env),
  forServer = false,
): Promise<OpenDatabase> {
  const opening = openDatabase(settings, () => undefined, forServer);
  opened.push(opening);
  return opening;
}

/** Whatever has ended the command: a server of PostgreSQL that it has started ends with it. */
export async function closeStores(): Promise<void> {
  await Promise.all(opened.splice(0).map(async (opening) => (await opening.catch(() => undefined))?.stop()));
}

/** The store that a command works on. */
@Injectable()
export class StoreConnection {
  constructor(private readonly dataSource: DataSource) {}

  /** Connects the services that the command injects. Migrates an embedded database; any other must be up to date. */
  async open(): Promise<void> {
    const { url, isEmbedded } = await Promise.race([openStore(), interrupted]);
    if (isEmbedded) {
      await migrateToNewest(url, () => undefined);
    }
    await this.dataSource.setOptions(commandOptions(url)).initialize();
    await assertKnownMigrations(this.dataSource.manager);
    // Only `db migrate` and a starting server migrate a database of somebody else.
    if (!isEmbedded && (await migrationStates(this.dataSource)).some(({ state }) => state === 'pending')) {
      const message = `The database is not up to date. Run: ${PETSTORE} db migrate`;
      throw new OperatorError(message, 'database_behind');
    }
  }
}

/** A command on the store, which is opened once its arguments are checked. */
export abstract class StoreCommand extends PetstoreCommand {
  @Inject() private readonly store!: StoreConnection;

  override async run(): Promise<void> {
    await this.store.open();
    await super.run();
  }
}

export interface SubcommandDeclaration extends Declaration {
  description: string;
  /** True for what opens the store itself, or needs none. */
  withoutStore?: boolean;
}

const SUBCOMMAND = 'petstore:subcommand';

/**
 * The method of a group is a command of it, on the store and with the method's name. It takes the values of its arguments, and
 * then of its options.
 */
export const Subcommand = (declaration: SubcommandDeclaration) => SetMetadata(SUBCOMMAND, declaration);

type Method = (...inputs: never[]) => Promise<void>;

/** Commands on one thing: the methods that are subcommands, in their order. Alone it prints its help. */
export abstract class CommandGroup extends PetstoreCommand {
  readonly examples = [];
  readonly takesJson = false;
  @Inject() private readonly store!: StoreConnection;

  declare(group: Commander): void {
    const methods = this as unknown as Record<string, Method>;
    for (const method of Object.getOwnPropertyNames(Object.getPrototypeOf(this))) {
      const declaration = Reflect.getMetadata(SUBCOMMAND, methods[method]!) as
        SubcommandDeclaration | undefined;
      if (declaration !== undefined) {
        const { description, withoutStore } = declaration;
        const command = group.command(method).description(description);
        complete(command, declaration);
        command.action(async () => {
          if (!withoutStore) {
            await this.store.open();
          }
          await methods[method]!(...inputsOf(command));
        });
      }
    }
    // An excess argument is an unknown subcommand.
    group.allowExcessArguments(true);
  }

  protected execute(): Promise<void> {
    if (this.command.args.length > 0) {
      // Names what was probably meant. Commander does so by itself only for a command that does nothing.
      (this.command as Commander & { unknownCommand(): never }).unknownCommand();
    }
    return this.command.help({ error: true });
  }
}

/** Of commands that ask. */
export interface ConfirmedOptions extends OutputOptions {
  yes?: boolean;
}
