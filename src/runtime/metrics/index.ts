import { Module } from '@nestjs/common';
import { AuthModule } from '../../modules/auth';
import { QuotasModule } from '../../modules/quotas';
import { EventsModule } from '../../modules/events';
import { WebhooksModule } from '../../modules/webhooks';
import { MetricsService } from './metrics.service';
import { ServiceMetrics } from './service-metrics';

export { MetricsService, serveMetrics } from './metrics.service';

@Module({
  imports: [AuthModule, QuotasModule, EventsModule, WebhooksModule],
  providers: [MetricsService, ServiceMetrics],
  exports: [MetricsService],
})
export class MetricsModule {}
