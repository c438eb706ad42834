import { Command, SubCommand } from 'nest-commander';
import { BackupCommand } from './backup.command';
import { CommandGroup, ReportingCommand, administer } from './command';
import { print, printMany, printOne } from './output';
import { CopyCommand } from './copy.command';
import { RestoreCommand } from './restore.command';
import { PETSTORE } from '../runtime/command-name';

@SubCommand({ name: 'migrate', description: 'apply missing migrations' })
export class MigrateCommand extends ReportingCommand {
  async run(_arguments: string[], { json }: { json?: boolean }): Promise<void> {
    const { migrateDatabase } = await import('./administration.js');
    const migrations = await migrateDatabase();
    if (json) {
      printOne({ migrations }, json);
    } else {
      print(migrations.length === 0 ? 'The database is up to date.' : `Done: ${migrations.join(', ')}`);
    }
  }
}

@SubCommand({ name: 'status', description: 'show which migrations have run; changes nothing' })
export class StatusCommand extends ReportingCommand {
  async run(_arguments: string[], { json }: { json?: boolean }): Promise<void> {
    const { migrationStatus } = await import('./administration.js');
    printMany(await migrationStatus(), json, 'There are no migrations.');
  }
}

@SubCommand({ name: 'seed', description: 'add a sample catalogue and the client demo to an empty store' })
export class SeedCommand extends ReportingCommand {
  async run(_arguments: string[], { json }: { json?: boolean }): Promise<void> {
    const { SeedService } = await import('../runtime/seed/index.js');
    const seeded = await administer((services) => services.get(SeedService).seed());
    printOne({ ...seeded }, json);
    if (!json && seeded.key === null) {
      print(`\nThe client demo already existed. To issue another key: ${PETSTORE} keys issue --client demo`);
    }
  }
}

@Command({
  name: 'db',
  description: 'manage the database',
  subCommands: [MigrateCommand, StatusCommand, SeedCommand, BackupCommand, RestoreCommand, CopyCommand],
})
export class DbCommand extends CommandGroup {}

export const DB_COMMANDS = [
  DbCommand,
  MigrateCommand,
  StatusCommand,
  SeedCommand,
  BackupCommand,
  RestoreCommand,
  CopyCommand,
];
