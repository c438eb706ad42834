import { type DynamicModule, Module } from '@nestjs/common';
import { AppModule } from '../app.module';
import { type Actor } from '../modules/audit';
import { type Settings, readSettings } from '../settings';
import { ClientsCommand } from './clients.command';
import { KeysCommand } from './keys.command';
import { DeprecationsCommand, QuotasCommand } from './quotas.command';
import { Store } from './command/store';
import { DbCommand } from './db.command';
import { StoreStatusCommand } from './status.command';
import { OpenapiCommand, ServeCommand, VersionCommand } from './program.commands';
import { ApiCommand } from './api.command';
import { EventsCommand } from './events.command';
import { ExportCommand, ImportCommand } from './catalogue.commands';
import { WebhooksCommand } from './webhooks.command';

/** In the order of the help. */
const COMMANDS = [
  ServeCommand,
  ClientsCommand,
  KeysCommand,
  QuotasCommand,
  EventsCommand,
  WebhooksCommand,
  ApiCommand,
  ImportCommand,
  ExportCommand,
  DeprecationsCommand,
  DbCommand,
  StoreStatusCommand,
  OpenapiCommand,
  VersionCommand,
];

/** The commands, with the application's services. */
@Module({})
export class CliModule {
  /** @param actor the author of all changes, for the audit log */
  static forActor(actor: Actor): DynamicModule {
    return {
      module: CliModule,
      imports: [AppModule.forCommands(settingsOrDefaults(), actor)],
      providers: [Store, ...COMMANDS.flatMap((command) => command.registerWithSubCommands())],
    };
  }
}

/** Help needs no settings. A command that does reads them again, and reports what is wrong. */
function settingsOrDefaults(): Settings {
  try {
    return readSettings(process.env);
  } catch {
    return readSettings({});
  }
}
