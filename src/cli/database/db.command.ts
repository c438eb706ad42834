import { Command, SubCommand } from 'nest-commander';
import { CommandGroup, ListingCommand, ReportingCommand, administer } from '../command/command';
import { type OutputOptions, isForPeople, print, printMany, printOne } from '../output/output';
import { TRANSFER_COMMANDS } from './transfer.commands';
import { PETSTORE } from '../../runtime/messages';

@SubCommand({ name: 'migrate', description: 'apply missing migrations' })
export class MigrateCommand extends ReportingCommand {
  protected override readonly examples = ['db migrate'];

  async run(_arguments: string[], options: OutputOptions): Promise<void> {
    const { migrateDatabase } = await import('../command/administration.js');
    const migrations = await migrateDatabase();
    if (!isForPeople(options)) {
      await printOne({ migrations }, options);
    } else {
      print(migrations.length === 0 ? 'The database is up to date.' : `Done: ${migrations.join(', ')}`);
    }
  }
}

@SubCommand({ name: 'status', description: 'show which migrations have run; changes nothing' })
export class StatusCommand extends ListingCommand {
  protected override readonly examples = ['db status', 'db status --json'];

  async run(_arguments: string[], options: OutputOptions): Promise<void> {
    const { migrationStatus } = await import('../command/administration.js');
    await printMany(await migrationStatus(), options, 'There are no migrations.');
  }
}

@SubCommand({ name: 'seed', description: 'add a sample catalogue and the client demo to an empty store' })
export class SeedCommand extends ReportingCommand {
  protected override readonly examples = ['db seed'];

  async run(_arguments: string[], options: OutputOptions): Promise<void> {
    const { SeedService } = await import('../../runtime/seed/index.js');
    const seeded = await administer((services) => services.get(SeedService).seed());
    await printOne({ ...seeded }, options);
    if (isForPeople(options) && seeded.key === null) {
      print(`\nThe client demo already existed. To issue another key: ${PETSTORE} keys issue --client demo`);
    }
  }
}

@Command({
  name: 'db',
  description: 'manage the database',
  subCommands: [MigrateCommand, StatusCommand, SeedCommand, ...TRANSFER_COMMANDS],
})
export class DbCommand extends CommandGroup {}

export const DB_COMMANDS = [DbCommand, MigrateCommand, StatusCommand, SeedCommand, ...TRANSFER_COMMANDS];
