import { Module } from '@nestjs/common';
import { AuthModule } from '../../modules/auth';
import { QuotasModule } from '../../modules/quotas';
import { EventsModule } from '../../modules/events';
import { EventFigures } from './event-figures';
import { WebhooksModule } from '../../modules/webhooks';
import { MetricsService } from './metrics.service';
import { ServiceFigures } from './service-figures';
import { WebhookFigures } from './webhook-figures';

export { MetricsService } from './metrics.service';
export { serveMetrics } from './serve-metrics';

@Module({
  imports: [AuthModule, QuotasModule, EventsModule, WebhooksModule],
  providers: [MetricsService, ServiceFigures, EventFigures, WebhookFigures],
  exports: [MetricsService],
})
export class MetricsModule {}
