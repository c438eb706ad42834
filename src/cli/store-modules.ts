import { CommandsModule } from '#libs/commands';
import { CatalogueTransferModule } from '../modules/catalogue';
import { DeprecationReportModule } from '../modules/deprecations';
import { EventLogModule } from '../modules/events';
import { OrdersModule } from '../modules/orders';
import { WebhookAdministrationModule } from '../modules/webhooks';
import { SeedModule } from '../runtime/seed';

/** What commands about the store need beside clients, keys and limits. It takes longer to load than those. */
export const STORE_MODULES = [
  CommandsModule,
  SeedModule,
  CatalogueTransferModule,
  OrdersModule,
  DeprecationReportModule,
  EventLogModule,
  WebhookAdministrationModule,
];
