import { Module } from '@nestjs/common';
import { AuthModule } from '../../modules/auth';
import { QuotasModule } from '../../modules/quotas';
import { EventsModule } from '../../modules/events';
import { WebhooksModule } from '../../modules/webhooks';
import { EventFigures } from './event-figures';
import { MetricsService } from './metrics.service';
import { ServiceFigures } from './service-figures';
import { WebhookFigures } from './webhook-figures';

export { MetricsService, type MetricsAddress } from './metrics.service';

@Module({
  imports: [AuthModule, QuotasModule, EventsModule, WebhooksModule],
  providers: [MetricsService, ServiceFigures, EventFigures, WebhookFigures],
  exports: [MetricsService],
})
export class MetricsModule {}
