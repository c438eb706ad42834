import { CommandsModule } from '#libs/database';
import { CatalogueTransferModule } from '../../modules/catalogue';
import { DeprecationReportModule } from '../../modules/deprecations';
import { EventLogModule } from '../../modules/events';
import { OrdersModule } from '../../modules/orders';
import { WebhookAdministrationModule } from '../../modules/webhooks';
import { SeedModule } from '../../runtime/seed';

/** Additional modules for commands on the store; slower to load than those for clients, keys and limits. */
export const STORE_MODULES = [
  CommandsModule,
  SeedModule,
  CatalogueTransferModule,
  OrdersModule,
  DeprecationReportModule,
  EventLogModule,
  WebhookAdministrationModule,
];
