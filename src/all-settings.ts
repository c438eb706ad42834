import { DEPRECATION_VARIABLES } from './modules/deprecations/settings';
import { QUOTA_VARIABLES } from './modules/quotas/settings';
import { WEBHOOK_VARIABLES } from './modules/webhooks/settings';
import { type Environment, type Values, valuesIn } from './settings/environment';
import { COMMON_VARIABLES, reconciled } from './settings/settings';

const VARIABLES = {
  ...COMMON_VARIABLES,
  ...QUOTA_VARIABLES,
  ...WEBHOOK_VARIABLES,
  ...DEPRECATION_VARIABLES,
};

export type AllSettings = Values<typeof VARIABLES>;

export function readSettings(environment: Environment): AllSettings {
  return reconciled(valuesIn(VARIABLES, environment), environment);
}

export function settingNames(): ReadonlySet<string> {
  return new Set(Object.values(VARIABLES).flatMap(({ names }) => names));
}
