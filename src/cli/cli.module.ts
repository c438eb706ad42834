import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { Command } from 'nest-commander';
import {
  BaseCommand,
  type Commander,
  type OutputOptions,
  StoreConnection,
  printDone,
  writeOutput,
} from '#libs/command-line';
import { UsageError } from '#libs/messages';
import { AppModule } from '../app.module';
import { FEATURES } from '../features';
import { RunningService } from '../modules/auth';
import { VERSION } from '../program';
import { serviceAddress } from '../runtime/presence';
import { type Settings, readSettings } from '../settings';
import { CompletionCommand } from './completion.command';
import { DbCommand } from './db.command';
import { StatusCommand } from './status.command';
import { OpenedStore } from './store';
import { ApiCommand } from './api.command';

@Command({
  name: 'serve',
  description: 'run the service until SIGTERM or Ctrl-C; configured by the environment',
})
export class ServeCommand extends BaseCommand {
  readonly examples = ['serve', 'serve > petstore.log'];
  readonly takesJson = false;

  /**
   * The launcher starts the server without the command line. This command only exists for the help and runs only if `serve`
   * has arguments.
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

@Command({ name: 'version', description: 'print the version of this program, and with --json that of Node' })
export class VersionCommand extends BaseCommand {
  readonly examples = ['version', 'version --json'];

  protected async execute(options: OutputOptions): Promise<void> {
    printDone(VERSION, { version: VERSION, node: process.versions.node }, options);
  }
}

/** The commands that belong to no feature. The help lists them after the commands of the features. */
const COMMANDS = [ApiCommand, DbCommand, StatusCommand, OpenapiCommand, CompletionCommand, VersionCommand];

const RUNNING_SERVICE: Provider = {
  provide: RunningService,
  useValue: { address: () => serviceAddress(readSettings(process.env)) },
};

@Module({})
export class CliModule {
  /** @param name the operator, whom the audit log names as the author of all changes */
  static async forOperator(name: string): Promise<DynamicModule> {
    const ofFeatures = await Promise.all(FEATURES.map(async ({ commands }) => (await commands?.()) ?? []));
    const commands = [ServeCommand, ...ofFeatures.flat(), ...COMMANDS];
    return {
      module: CliModule,
      imports: [AppModule.forCommands(settingsOrDefaults(), { kind: 'cli', name })],
      providers: [{ provide: StoreConnection, useClass: OpenedStore }, RUNNING_SERVICE, ...commands],
    };
  }
}

/**
 * Returns the default settings if a setting is invalid, because the help must work anyway. A command that needs settings
 * reads them again and reports the invalid setting.
 */
function settingsOrDefaults(): Settings {
  try {
    return readSettings(process.env);
  } catch {
    return readSettings({});
  }
}
