import { type DynamicModule, Module } from '@nestjs/common';
import { Command } from 'nest-commander';
import {
  BaseCommand,
  type Commander,
  type OutputOptions,
  StoreOpener,
  printDone,
  subcommandOf,
  writeOutput,
} from '#libs/command-line';
import { UsageError } from '#libs/messages';
import { type AllSettings, readSettings } from '../all-settings';
import { AppModule } from '../app.module';
import { FEATURES } from '../features';
import { VERSION } from '../program';
import { RunningService } from '../service-access';
import { serviceAddress } from '../store/presence';
import { CommandDatabase } from './command-database';
import { CompletionCommand } from './completion.command';
import { DbCommand } from './db.command';
import { StatusCommand } from './status.command';
import { ApiCommand } from './api.command';

export const SETTINGS_HELP = `
Settings (environment variables, or in .env):
  HOST          address (default: 127.0.0.1)
  PORT          port (default: 3000)
  DATABASE_URL  PostgreSQL (default: in DATA_DIR)
  DATA_DIR      data folder (default: .petstore)
  LOG_LEVEL     error, warn, info, debug, …
All settings: docs/operations/running.md`;

@Command({
  name: 'serve',
  description: 'run the service until SIGTERM or Ctrl-C; configured by environment variables',
})
export class ServeCommand extends BaseCommand {
  readonly examples = ['serve', 'serve > petstore.log'];
  readonly takesJson = false;

  declare(command: Commander): void {
    command.addHelpText('after', SETTINGS_HELP);
  }

  /**
   * Refuses `serve` with arguments. For `serve` without arguments, `bin/petstore.js` starts the service and does not
   * run this command. The command exists so that the help lists `serve`.
   */
  protected execute(): Promise<never> {
    return Promise.reject(new UsageError('serve takes no arguments.'));
  }
}

@Command({ name: 'openapi', description: 'print the OpenAPI document; needs neither server nor database' })
export class OpenapiCommand extends BaseCommand {
  readonly examples = ['openapi > openapi.json', 'openapi --yaml'];
  readonly takesJson = false;

  declare(command: Commander): void {
    command.option('--yaml', 'as YAML instead of JSON');
  }

  protected async execute({ yaml }: { yaml?: boolean }): Promise<void> {
    const { openapiDocument } = await import('./openapi-document.js');
    writeOutput(await openapiDocument(yaml ? 'yaml' : 'json'));
  }
}

@Command({ name: 'version', description: 'print the versions of this program and of Node' })
export class VersionCommand extends BaseCommand {
  readonly examples = ['version', 'version --json'];

  protected async execute(options: OutputOptions): Promise<void> {
    const { node } = process.versions;
    printDone(`${VERSION} (Node ${node})`, { version: VERSION, node }, options);
  }
}

@Command({ name: 'help', description: 'show the help of a command', arguments: '[command...]' })
export class HelpCommand extends BaseCommand {
  readonly examples = ['help keys', 'help keys issue'];
  readonly takesJson = false;

  protected async execute(names: string[] = []): Promise<void> {
    names.reduce(subcommandOf, this.command.parent!).help();
  }
}

/** Commands that belong to no feature. The help lists these after the commands of the features. */
const COMMANDS = [
  ApiCommand,
  DbCommand,
  StatusCommand,
  OpenapiCommand,
  CompletionCommand,
  VersionCommand,
  HelpCommand,
];

@Module({})
export class CliModule {
  /** @param name the operator's name, which the audit log shows as the author of changes */
  static async forOperator(name: string): Promise<DynamicModule> {
    const ofFeatures = await Promise.all(
      FEATURES.map(async ({ cliCommands }) => (await cliCommands?.()) ?? []),
    );
    const commands = [ServeCommand, ...ofFeatures.flat(), ...COMMANDS];
    return {
      module: CliModule,
      imports: [AppModule.forCommandLine(settingsOrDefaults(), { kind: 'cli', name })],
      providers: [
        { provide: StoreOpener, useClass: CommandDatabase },
        { provide: RunningService, useValue: { address: () => serviceAddress(readSettings(process.env)) } },
        ...commands,
      ],
    };
  }
}

/**
 * Returns the settings of the environment. If one of them is invalid, returns the default settings, because the help
 * must work even then.
 */
function settingsOrDefaults(): AllSettings {
  try {
    return readSettings(process.env);
  } catch {
    return readSettings({});
  }
}
