import type { Feature } from './feature';
import { DEPRECATION_VARIABLES } from './modules/deprecations/settings';
import { QUOTA_VARIABLES } from './modules/quotas/settings';
import { WEBHOOK_VARIABLES } from './modules/webhooks/settings';
import { type Environment, type Values, valuesIn } from './runtime/environment';
import { COMMON_VARIABLES, completed } from './settings';

const VARIABLES = {
  ...COMMON_VARIABLES,
  ...QUOTA_VARIABLES,
  ...WEBHOOK_VARIABLES,
  ...DEPRECATION_VARIABLES,
};

export type AllSettings = Values<typeof VARIABLES>;

export function readSettings(environment: Environment): AllSettings {
  return completed(valuesIn(VARIABLES, environment), environment);
}

export function settingNames(): ReadonlySet<string> {
  return new Set(Object.values(VARIABLES).flatMap(({ names }) => names));
}

/**
 * All features. Commands lock rows in this order, parents before children. Features are loaded only after the settings,
 * so that an invalid setting is reported first.
 */
const LOADERS: readonly (() => Promise<Feature>)[] = [
  async () => (await import('./modules/auth/index.js')).AUTH,
  async () => (await import('./modules/quotas/index.js')).QUOTAS,
  async () => (await import('./modules/categories/index.js')).CATEGORIES,
  async () => (await import('./modules/pets/index.js')).PETS,
  async () => (await import('./modules/inventory/index.js')).INVENTORY,
  async () => (await import('./modules/orders/index.js')).ORDERS,
  async () => (await import('./modules/events/index.js')).EVENTS,
  async () => (await import('./modules/webhooks/index.js')).WEBHOOKS,
  async () => (await import('./modules/catalogue/index.js')).CATALOGUE,
  async () => (await import('./modules/deprecations/index.js')).DEPRECATIONS,
  async () => (await import('./modules/audit/index.js')).AUDIT,
  async () => (await import('./modules/idempotency/index.js')).IDEMPOTENCY,
];

export const FEATURES = Symbol('features');

export function loadFeatures(): Promise<Feature[]> {
  return Promise.all(LOADERS.map((load) => load()));
}
