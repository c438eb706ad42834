import { type DynamicModule, Module } from '@nestjs/common';
import { EventsModule } from '../../events';
import { SecretVault } from '../secret-vault';
import { WebhookAdministrationModule } from '../webhook-administration.module';
import { AddressPolicy } from './address-policy';
import { DeliveryFigures } from './delivery-figures';
import { DeliveryQueue } from './delivery-queue';
import { DeliveryWorker } from './delivery-worker';
import { Dispatcher } from './dispatcher';
import { Receivers } from './receivers';
import { Sender } from './sender';
import { Transmitter } from './transmitter';

/** What sends events to webhooks, as long as the service runs. */
@Module({})
export class DeliveryModule {
  static forRoot(policy: AddressPolicy, vault: SecretVault): DynamicModule {
    return {
      module: DeliveryModule,
      imports: [EventsModule, WebhookAdministrationModule],
      providers: [
        { provide: AddressPolicy, useValue: policy },
        { provide: SecretVault, useValue: vault },
        { provide: Sender, useFactory: () => new Sender(policy) },
        DeliveryQueue,
        Receivers,
        Transmitter,
        DeliveryWorker,
        Dispatcher,
        DeliveryFigures,
      ],
      exports: [AddressPolicy, SecretVault, DeliveryWorker, DeliveryFigures],
    };
  }
}
