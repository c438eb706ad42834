import { Command } from 'nest-commander';
import { PETSTORE } from '../../runtime/messages';
import { ReportingCommand } from '../command/command';
import { CommandFailure } from '../command/command-failure';
import { type OutputOptions, inUnits, isForPeople, print, printMany, printOne } from '../output/output';
import { readSettings } from '../../settings';
import { type StoreStatus, storeStatus } from './store-status';

@Command({
  name: 'status',
  description: 'show the state of the service and its database; starts and changes nothing',
})
export class StoreStatusCommand extends ReportingCommand {
  protected override readonly examples = ['status', 'status --json'];

  /** Exits with 1 after the output if there is a problem, for scripts. */
  async run(_arguments: string[], options: OutputOptions): Promise<void> {
    const status = await storeStatus(readSettings(process.env));
    const problems = problemsOf(status);
    if (isForPeople(options)) {
      await show(status, options);
    } else {
      await printOne({ ...status, problems }, options);
    }
    if (problems.length > 0) {
      throw new CommandFailure(problems.join(' '));
    }
  }
}

async function show(
  { version, database, instances, limits, redis, webhooks, tables }: StoreStatus,
  options: OutputOptions,
): Promise<void> {
  const { kind, location, state, psql, postgres, bytes, connections, maxConnections, pendingMigrations } =
    database;
  await printOne(
    {
      version,
      database: `${kind}, ${state}`,
      location,
      psql,
      postgres,
      size: bytes === null ? null : inUnits(bytes),
      connections: connections === null ? null : `${connections} of ${maxConnections}`,
      pendingMigrations,
      redis: redis && (redis.answers ? `${redis.version}, ${inUnits(redis.bytes ?? 0)}` : 'does not answer'),
      limits: instances.length === 0 ? null : limits.shared ? 'exact' : 'not shared',
      webhooks:
        webhooks &&
        `${webhooks.enabled} enabled (${webhooks.failing} failing), ${webhooks.disabled} disabled, ${webhooks.pendingDeliveries} deliveries pending`,
    },
    options,
  );
  // The columns of the first table; the others do not have them.
  if (options.columns !== undefined) {
    return;
  }
  print('');
  const rows = instances.map(({ since, ...instance }) => ({ ...instance, since: since.toISOString() }));
  // Operators wait for this sentence before they restore or copy a store, so it must not be a guess.
  const known = state === 'running' || state === 'stopped';
  await printMany(
    rows,
    options,
    known ? 'No instance of the service runs.' : 'Whether an instance of the service runs is unknown.',
  );
  if (tables.length > 0) {
    print('');
    await printMany(
      tables.map(({ bytes, ...table }) => ({ ...table, size: inUnits(bytes) })),
      options,
      '',
    );
  }
}

/** Problems that need action, one sentence each. */
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
