import { Module } from '@nestjs/common';
import { AuditCommand } from './audit.command';
import { CLIENT_COMMANDS } from './accounts/clients.command';
import { CompletionCommand } from './completion.command';
import { DB_COMMANDS } from './database/db.command';
import { DeprecationsCommand } from './deprecations.command';
import { KEY_COMMANDS } from './accounts/keys.command';
import { OpenapiCommand } from './openapi.command';
import { QUOTA_COMMANDS } from './accounts/quotas.command';
import { ServeCommand } from './serve.command';
import { STORE_COMMANDS } from './store';
import { VersionCommand } from './version.command';
import { StoreStatusCommand } from './database/status.command';

/** All commands. They load their dependencies when they run, to keep --help fast. */
@Module({
  providers: [
    ServeCommand,
    ...CLIENT_COMMANDS,
    ...KEY_COMMANDS,
    ...QUOTA_COMMANDS,
    ...STORE_COMMANDS,
    DeprecationsCommand,
    AuditCommand,
    ...DB_COMMANDS,
    StoreStatusCommand,
    OpenapiCommand,
    CompletionCommand,
    VersionCommand,
  ],
})
export class CliModule {}
