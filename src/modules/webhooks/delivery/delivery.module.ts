import { Module } from '@nestjs/common';
import { SETTINGS, type Settings } from '../../../settings';
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

/** Sends events to webhooks while the service runs. */
@Module({
  imports: [EventsModule, WebhookAdministrationModule],
  providers: [
    {
      provide: AddressPolicy,
      inject: [SETTINGS],
      useFactory: ({ webhookNetworks }: Settings) => new AddressPolicy(webhookNetworks),
    },
    {
      provide: SecretVault,
      inject: [SETTINGS],
      useFactory: ({ webhookKey }: Settings) => new SecretVault(webhookKey),
    },
    { provide: Sender, inject: [AddressPolicy], useFactory: (policy: AddressPolicy) => new Sender(policy) },
    DeliveryQueue,
    Receivers,
    Transmitter,
    DeliveryWorker,
    Dispatcher,
    DeliveryFigures,
  ],
  exports: [AddressPolicy, SecretVault, DeliveryWorker, DeliveryFigures],
})
export class DeliveryModule {}
