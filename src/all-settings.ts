import { DEPRECATION_VARIABLES } from './modules/deprecations/settings';
import { QUOTA_VARIABLES } from './modules/quotas/settings';
import { WEBHOOK_VARIABLES } from './modules/webhooks/settings';
import { type Environment, EnvironmentError, type Values, valuesIn } from './settings/environment';
import { COMMON_VARIABLES } from './settings/settings';

const VARIABLES = {
  ...COMMON_VARIABLES,
  ...QUOTA_VARIABLES,
  ...WEBHOOK_VARIABLES,
  ...DEPRECATION_VARIABLES,
};

export type AllSettings = Values<typeof VARIABLES>;

/** @throws EnvironmentError for the first invalid variable */
export function readSettings(environment: Environment): AllSettings {
  const settings = valuesIn(VARIABLES, environment);
  const { port, metrics } = settings;
  if (port !== 0 && metrics?.port === port) {
    throw new EnvironmentError('METRICS_PORT', 'another port than PORT', String(port));
  }
  return settings;
}

/**
 * Like `readSettings`, but also checks WORKERS, because several workers need Redis. The command line starts no workers,
 * so it does not need this check.
 */
export function readServiceSettings(environment: Environment): AllSettings {
  const settings = readSettings(environment);
  const { workers, redisUrl } = settings;
  if (workers > 1 && redisUrl === undefined) {
    const expected = '1 unless REDIS_URL is set (several workers share the limits in Redis)';
    throw new EnvironmentError('WORKERS', expected, String(workers));
  }
  return settings;
}

/** Returns the warnings that the service logs at its start. */
export function warningsAbout({ redisUrl, instances, workers }: AllSettings): string[] {
  return redisUrl !== undefined && instances === 1 && workers === 1
    ? ['INSTANCES is 1: if Redis fails, every instance allows the full limit.']
    : [];
}

export function settingNames(): ReadonlySet<string> {
  return new Set(Object.values(VARIABLES).flatMap(({ names }) => names));
}
