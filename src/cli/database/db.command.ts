import { Inject } from '@nestjs/common';
import { Command, SubCommand } from 'nest-commander';
import { migrationStates } from '#libs/database';
import { migrateToNewest } from '../../runtime/data-source';
import { PETSTORE } from '../../runtime/messages';
import { SeedService } from '../../runtime/seed';
import { CommandGroup, ResultCommand } from '../command/command';
import { withConnection, withDatabase } from '../command/store';
import { type OutputOptions, isForPeople, print, printDone, printMany, printOne } from '../output/output';
import { CopyCommand } from './copy.command';

@SubCommand({ name: 'migrate', description: 'apply missing migrations' })
export class MigrateCommand extends ResultCommand {
  protected override readonly examples = ['db migrate'];

  async run(_inputs: string[], options: OutputOptions): Promise<void> {
    const report = (line: string) => process.stderr.write(`${line}\n`);
    const migrations = await withDatabase((url) => migrateToNewest(url, report));
    const done = migrations.length === 0 ? 'The database is up to date.' : `Done: ${migrations.join(', ')}`;
    printDone(done, { migrations }, options);
  }
}

@SubCommand({ name: 'status', description: 'show which migrations have run; changes nothing' })
export class StatusCommand extends ResultCommand {
  protected override readonly examples = ['db status', 'db status --json'];

  async run(_inputs: string[], options: OutputOptions): Promise<void> {
    const states = await withDatabase((url) => withConnection(url, migrationStates));
    printMany(states, options, 'There are no migrations.');
  }
}

@SubCommand({ name: 'seed', description: 'add a sample catalogue and the client demo to an empty store' })
export class SeedCommand extends ResultCommand {
  protected override readonly examples = ['db seed'];
  @Inject() private readonly seeds!: SeedService;

  async run(_inputs: string[], options: OutputOptions): Promise<void> {
    await this.store.open();
    const seeded = await this.seeds.seed();
    printOne({ ...seeded }, options);
    if (isForPeople(options) && seeded.key === null) {
      print(`\nThe client demo already existed. To issue another key: ${PETSTORE} keys issue --client demo`);
    }
  }
}

@Command({
  name: 'db',
  description: 'manage the database',
  subCommands: [MigrateCommand, StatusCommand, SeedCommand, CopyCommand],
})
export class DbCommand extends CommandGroup {}
