import { Inject, Injectable } from '@nestjs/common';
import { CommandRunner } from 'nest-commander';
import { DataSource } from 'typeorm';
import { assertKnownMigrations, migrationStates } from '#libs/database';
import { migrateToNewest } from '../../runtime/data-source';
import { isDecoded } from '../../runtime/environment';
import { PETSTORE } from '../../runtime/messages';
import { type OpenDatabase, openDatabase } from '../../runtime/open-database';
import { readSettings } from '../../settings';
import { FORMATS, type OutputOptions } from './output';
import { unlessEnded } from './ending';
import { CommandFailure, UsageError, writeUsageError } from './failure';
import { writeOutput } from './files';
import { oneOf } from './option';

/** A command as the package `commander` has it. */
export type Commander = Parameters<CommandRunner['setCommand']>[0];

function rethrow(error: Error): never {
  throw error;
}

/** What commander writes goes where all output goes, and its errors to whoever runs a command. */
export const COMMANDER_OPTIONS = {
  cliName: 'petstore',
  outputConfiguration: { outputError: writeUsageError, writeOut: (text: string) => writeOutput(text) },
  errorHandler: rethrow,
  serviceErrorHandler: rethrow,
};

/** Base of all commands. */
export abstract class PetstoreCommand extends CommandRunner {
  /** Shown below the help, after the program's name. */
  protected abstract readonly examples: readonly string[];
  /** Shown between the options and the examples. */
  protected explanation(): string {
    return '';
  }

  override setCommand(command: Commander): this {
    command.exitOverride();
    command.allowExcessArguments(false);
    command.addHelpText('after', () => {
      const lines = this.examples.map((example) => `  ${PETSTORE} ${example}\n`);
      return this.explanation() + (lines.length === 0 ? '' : `\nExamples:\n${lines.join('')}`);
    });
    this.accept(command);
    return super.setCommand(command);
  }

  /** Declares the options, as commander does. */
  accept(_commander: Commander): void {
    // Not every command has options.
  }

  /** Options come from commander: nest-commander passes on those of its own decorators only. */
  override run(inputs: string[]): Promise<void> {
    if (!process.argv.every(isDecoded)) {
      throw new UsageError('an argument is not UTF-8.');
    }
    return this.work(inputs, this.command.opts());
  }

  abstract work(inputs: string[], options: object): Promise<void>;
}

/** A group of subcommands; prints its help. */
export abstract class CommandGroup extends PetstoreCommand {
  protected override readonly examples: readonly string[] = [];

  override setCommand(command: Commander): this {
    super.setCommand(command);
    // An excess argument is an unknown subcommand: see work().
    command.allowExcessArguments(true);
    return this;
  }

  work([unknown]: string[]): Promise<void> {
    if (unknown !== undefined) {
      // Names what was probably meant. Commander does so by itself only for a command that does nothing.
      (this.command as Commander & { unknownCommand(): never }).unknownCommand();
    }
    return this.command.help({ error: true });
  }
}

/** The databases of this process, also those that are only being opened. */
const opened: Promise<OpenDatabase>[] = [];

/** @param settings by default those of the environment */
export function open(
  settings: Parameters<typeof openDatabase>[0] = readSettings(process.env),
  forServer = false,
): Promise<OpenDatabase> {
  const opening = openDatabase(settings, () => undefined, forServer);
  opened.push(opening);
  return opening;
}

/** Whatever has ended the command: a server of PostgreSQL that it has started ends with it. */
export async function closeDatabases(): Promise<void> {
  await Promise.all(opened.splice(0).map(async (opening) => (await opening.catch(() => undefined))?.close()));
}

/** The store that a command works on, opened once its arguments are checked. */
@Injectable()
export class StoreConnection {
  private isOpen = false;

  constructor(private readonly dataSource: DataSource) {}

  /** Connects the services that the command injects, once. Migrates an embedded database; any other must be up to date. */
  async open(): Promise<void> {
    if (this.isOpen) {
      return;
    }
    this.isOpen = true;
    const { url, embedded } = await unlessEnded(open());
    if (embedded) {
      await migrateToNewest(url, () => undefined);
    }
    await this.dataSource.setOptions({ url }).initialize();
    await assertKnownMigrations(this.dataSource.manager);
    // Only `db migrate` and a starting server migrate a database of somebody else.
    if (!embedded && (await migrationStates(this.dataSource)).some(({ state }) => state === 'pending')) {
      const message = `The database is not up to date. Run: ${PETSTORE} db migrate`;
      throw new CommandFailure(message, { code: 'database_behind' });
    }
  }
}

/** For work on the database itself: its migrations are not checked. */
export async function withDatabase<Result>(work: (url: string) => Promise<Result>): Promise<Result> {
  const { url } = await open();
  return work(url);
}

/** A command that prints its result as a table, JSON or CSV. */
export abstract class ResultCommand extends PetstoreCommand {
  @Inject() protected readonly store!: StoreConnection;
  /** True for what destroys or cuts off, and its opposite, which takes the same options. */
  protected readonly asks: boolean = false;

  override setCommand(command: Commander): this {
    super.setCommand(command);
    if (this.asks) {
      command.option('-y, --yes', 'do not ask');
    }
    command
      .option('-o, --output <format>', 'table (default), json or csv', oneOf(FORMATS))
      .option('--json', 'short for --output json');
    return this;
  }
}

/** Of commands that ask. */
export interface ConfirmedOptions extends OutputOptions {
  yes?: boolean;
}
