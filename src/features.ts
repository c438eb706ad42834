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

/**
 * All features. Transactions lock and write the rows of the features' tables in this order, parents before children.
 * The help lists commands of the command line in this order, too. Events of one write are in the reverse order
 * (`events/write-model.ts`), so if a line moves, callers see these events in another order.
 */
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
