import type { Feature } from './feature';
import { AUDIT } from './modules/audit';
import { AUTH } from './modules/auth';
import { CATALOGUE } from './modules/catalogue';
import { CATEGORIES } from './modules/categories';
import { DEPRECATIONS } from './modules/deprecations';
import { EVENTS } from './modules/events';
import { INVENTORY } from './modules/inventory';
import { ORDERS } from './modules/orders';
import { PETS } from './modules/pets';
import { QUOTAS } from './modules/quotas';
import { WEBHOOKS } from './modules/webhooks';
import { WRITES } from './modules/writes';

/** All features. The order is that in which writes lock the rows of the features' tables: parents before children. */
export const FEATURES: readonly Feature[] = [
  AUTH,
  QUOTAS,
  CATEGORIES,
  PETS,
  INVENTORY,
  ORDERS,
  EVENTS,
  WEBHOOKS,
  CATALOGUE,
  DEPRECATIONS,
  AUDIT,
  WRITES,
];
