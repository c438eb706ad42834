import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { defaults } from 'pg';
import type { DataSource, DataSourceOptions } from 'typeorm';
import { Database } from './database';
import { DatabaseUrl } from './database-url';
import { NotificationListener } from './notification-listener';

// By default the driver writes a Date in the machine's time zone, with an offset in whole minutes. Before standard time
// (1883 in New York, 1893 in Vienna) offsets had seconds, and such a date would be stored wrong.
defaults.parseInputDatesAsUTC = true;

@Module({})
export class DatabaseModule {
  /**
   * @param url PostgreSQL connection URL
   * @param connect opens the data source, once per application; its connections are closed with the application
   */
  static forRoot(
    url: string,
    options: DataSourceOptions,
    connect: (options: DataSourceOptions) => Promise<DataSource>,
  ): DynamicModule {
    return {
      module: DatabaseModule,
      global: true,
      imports: [
        TypeOrmModule.forRootAsync({
          // An unreachable database ends the start immediately, with a clear message, instead of after ten silent attempts.
          useFactory: () => ({ ...options, retryAttempts: 0 }),
          dataSourceFactory: () => connect(options),
        }),
      ],
      providers: [Database, NotificationListener, { provide: DatabaseUrl, useValue: new DatabaseUrl(url) }],
      exports: [Database, DatabaseUrl, NotificationListener, TypeOrmModule],
    };
  }
}
