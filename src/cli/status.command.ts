import { Command, Help } from 'nest-commander';
import { PETSTORE } from '../runtime/command-name';
import { printableJson } from '../runtime/text';
import { megabytes } from './backup.command';
import { ReportingCommand, examples } from './command';
import { CommandFailure } from './command-failure';
import { print, printMany, printOne } from './output';
import type { StoreStatus } from './store-status';

@Command({
  name: 'status',
  description: 'show what runs, on which data and how it is; starts and changes nothing',
})
export class StoreStatusCommand extends ReportingCommand {
  @Help('after')
  examples(): string {
    return examples('status', 'status --json');
  }

  /** Fails after the answer when something is not as it should be, so that a script need not read it. */
  async run(_arguments: string[], { json }: { json?: boolean }): Promise<void> {
    const [{ storeStatus }, { readSettings }] = await Promise.all([
      import('./store-status.js'),
      import('../settings.js'),
    ]);
    const status = await storeStatus(readSettings(process.env));
    const problems = problemsOf(status);
    if (json) {
      print(printableJson({ ...status, problems }));
    } else {
      show(status);
    }
    if (problems.length > 0) {
      throw new CommandFailure(problems.join(' '));
    }
  }
}

function show({ version, database, instances, limits, redis, tables }: StoreStatus): void {
  const { kind, location, state, postgres, bytes, connections, maxConnections, pendingMigrations } = database;
  printOne(
    {
      version,
      database: `${kind}, ${state}`,
      location,
      postgres,
      size: bytes === null ? null : megabytes(bytes),
      connections: connections === null ? null : `${connections} of ${maxConnections}`,
      pendingMigrations,
      redis:
        redis && (redis.answers ? `${redis.version}, ${megabytes(redis.bytes ?? 0)}` : 'does not answer'),
      limits: instances.length === 0 ? null : limits.shared ? 'exact' : 'not shared',
    },
    false,
  );
  print('');
  const rows = instances.map(({ since, ...instance }) => ({ ...instance, since: since.toISOString() }));
  printMany(rows, false, 'No instance of the service runs.');
  if (tables.length > 0) {
    print('');
    printMany(
      tables.map((table) => ({ ...table, rows: table.rows ?? null })),
      false,
      '',
    );
  }
}

/** What somebody has to do something about, each in a sentence. */
function problemsOf({ database, instances, limits, redis }: StoreStatus): string[] {
  const { state, location, reason, pendingMigrations } = database;
  if (state === 'missing') {
    return [`There is no database in ${location}. The service creates one: ${PETSTORE} serve.`];
  }
  if (state === 'unreachable') {
    return [`The database cannot be reached: ${reason}.`];
  }
  return [
    ...(instances.length === 0 ? ['No instance of the service runs on this database.'] : []),
    ...(pendingMigrations ? [`Migrations are missing: ${PETSTORE} db migrate.`] : []),
    ...(redis?.answers === false ? ['Redis does not answer.'] : []),
    ...(limits.shared ? [] : ['Instances do not share limits: set the same REDIS_URL for all of them.']),
  ];
}
