import { type DynamicModule, Module } from '@nestjs/common';
import { AppModule } from '../app.module';
import { type Actor } from '../modules/audit';
import { type Settings, readSettings } from '../settings';
import { ClientsCommand } from './accounts/clients.command';
import { KeysCommand } from './accounts/keys.command';
import { QuotasCommand } from './accounts/quotas.command';
import { Store } from './command/store';
import { DbCommand } from './database/db.command';
import { StoreStatusCommand } from './database/status.command';
import { AuditCommand, DeprecationsCommand } from './accounts/reports.commands';
import { CompletionCommand, OpenapiCommand, ServeCommand, VersionCommand } from './program.commands';
import { ApiCommand } from './store/api.command';
import { EventsCommand } from './store/events.command';
import { ExportCommand, ImportCommand } from './store/transfer.commands';
import { CategoriesCommand, OrdersCommand, PetsCommand, StockCommand } from './store/store.commands';
import { WebhooksCommand } from './store/webhooks.command';

/** In the order of the help. */
const COMMANDS = [
  ServeCommand,
  ClientsCommand,
  KeysCommand,
  QuotasCommand,
  PetsCommand,
  CategoriesCommand,
  OrdersCommand,
  StockCommand,
  EventsCommand,
  WebhooksCommand,
  ApiCommand,
  ImportCommand,
  ExportCommand,
  DeprecationsCommand,
  AuditCommand,
  DbCommand,
  StoreStatusCommand,
  OpenapiCommand,
  CompletionCommand,
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
