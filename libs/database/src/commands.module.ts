import { type DynamicModule, Module } from '@nestjs/common';
import { Clock } from '#libs/clock';
import { Database } from './database';
import { CommandExecutor, type WriteModel } from './engine/command-executor';

/** The changes that callers make go through this module. */
@Module({})
export class CommandsModule {
  static of(model: WriteModel): DynamicModule {
    return {
      module: CommandsModule,
      global: true,
      providers: [
        {
          provide: CommandExecutor,
          inject: [Database, Clock],
          useFactory: (database: Database, clock: Clock) =>
            new CommandExecutor(database, model, () => clock.now()),
        },
      ],
      exports: [CommandExecutor],
    };
  }
}
