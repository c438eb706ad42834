import { Command, SubCommand } from 'nest-commander';
import { DataSource } from 'typeorm';
import { migrationStates } from '#libs/database';
import { migrateToNewest } from '../../runtime/data-source';
import { SeedService } from '../../runtime/seed';
import { withDatabase } from '../command/store';
import { CommandGroup, ListingCommand, ResultCommand } from '../command/command';
import { type OutputOptions, isForPeople, print, printMany, printOne } from '../output/output';
import { TRANSFER_COMMANDS } from './transfer.commands';
import { PETSTORE } from '../../runtime/messages';

@SubCommand({ name: 'migrate', description: 'apply missing migrations' })
export class MigrateCommand extends ResultCommand {
  protected override readonly examples = ['db migrate'];

  async run(_arguments: string[], options: OutputOptions): Promise<void> {
    const migrations = await withDatabase(migrateToNewest);
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
    const states = await withDatabase(async (_url, database) => {
      const dataSource = await new DataSource(database).initialize();
      return migrationStates(dataSource).finally(() => dataSource.destroy());
    });
    await printMany(states, options, 'There are no migrations.');
  }
}

@SubCommand({ name: 'seed', description: 'add a sample catalogue and the client demo to an empty store' })
export class SeedCommand extends ResultCommand {
  protected override readonly examples = ['db seed'];

  constructor(private readonly seeds: SeedService) {
    super();
  }

  async run(_arguments: string[], options: OutputOptions): Promise<void> {
    await this.store.open();
    const seeded = await this.seeds.seed();
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
