import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { DataSource, DataSourceOptions } from 'typeorm';
import { Database } from './database';
import { ReadReplicas } from './replicas/read-replicas';

/** Where the database is, for the few who need a connection of their own. */
export abstract class DatabaseUrl {
  abstract readonly value: string;
}

@Module({})
export class DatabaseModule {
  /**
   * @param url PostgreSQL connection URL
   * @param connect opens the data source, once per application; its connections are closed with the application
   * @param replicas PostgreSQL connection URLs of the standbys that lists are read from; none when left out
   */
  static forRoot(
    url: string,
    options: DataSourceOptions,
    connect: (options: DataSourceOptions) => Promise<DataSource>,
    replicas: { urls: readonly string[]; poolSize: number } = { urls: [], poolSize: 0 },
  ): DynamicModule {
    const useReplicas = () => new ReadReplicas({ ...replicas, primaryUrl: url });
    const whereThereAre =
      replicas.urls.length > 0 ? [{ provide: ReadReplicas, useFactory: useReplicas }] : [];
    return {
      module: DatabaseModule,
      global: true,
      imports: [
        TypeOrmModule.forRootAsync({
          // An unreachable database ends the start at once, with a clear message, instead of after ten silent tries.
          useFactory: () => ({ ...options, retryAttempts: 0 }),
          dataSourceFactory: () => connect(options),
        }),
      ],
      providers: [Database, { provide: DatabaseUrl, useValue: { value: url } }, ...whereThereAre],
      exports: [Database, DatabaseUrl, TypeOrmModule, ...whereThereAre.map(({ provide }) => provide)],
    };
  }
}
