import { type DynamicModule, Module } from '@nestjs/common';
import { RetentionModule } from '#libs/retention';
import { DeliveriesController } from './deliveries.controller';
import { AddressPolicy } from './delivery/address-policy';
import { DeliveryModule } from './delivery/delivery.module';
import { SecretVault } from './secret-vault';
import { WebhookKeyCheck } from './webhook-key-check';
import { WebhooksController } from './webhooks.controller';
import { WebhooksService } from './webhooks.service';

/** Today counts, so a delivery is there for 30 days at least. */
const DAYS = 31;

export interface WebhooksOptions {
  /** Networks that webhooks may call although they are not public. */
  networks: readonly string[];
  /** Encrypts signing secrets; without it no webhooks are created or called. */
  key: Buffer | undefined;
}

/** Events, sent to where clients want them. */
@Module({})
export class WebhooksModule {
  static forRoot({ networks, key }: WebhooksOptions): DynamicModule {
    const delivery = DeliveryModule.forRoot(new AddressPolicy(networks), new SecretVault(key));
    return {
      module: WebhooksModule,
      imports: [
        delivery,
        RetentionModule.keep({ table: 'webhook_deliveries', dayColumn: 'day', days: DAYS }),
      ],
      controllers: [WebhooksController, DeliveriesController],
      providers: [WebhooksService, WebhookKeyCheck],
      exports: [delivery],
    };
  }
}
