import { type DynamicModule, Module } from '@nestjs/common';
import { Clock } from '#libs/clock';
import { Database } from '#libs/database';
import { Retention, type RetentionOptions } from './retention';

@Module({})
export class RetentionModule {
  /** For the module that the table belongs to. */
  static keep(options: RetentionOptions): DynamicModule {
    return {
      module: RetentionModule,
      providers: [
        {
          provide: Retention,
          inject: [Database, Clock],
          useFactory: (database: Database, clock: Clock) => new Retention(database, clock, options),
        },
      ],
      exports: [Retention],
    };
  }
}
