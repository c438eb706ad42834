import { Module } from '@nestjs/common';
import { AuthModule } from '../../modules/auth';
import { QuotasModule } from '../../modules/quotas';
import { WebhooksModule } from '../../modules/webhooks';
import { MetricsService } from './metrics.service';
import { ServiceFigures } from './service-figures';
import { WebhookFigures } from './webhook-figures';

export { MetricsService, type MetricsAddress } from './metrics.service';

@Module({
  imports: [AuthModule, QuotasModule, WebhooksModule],
  providers: [MetricsService, ServiceFigures, WebhookFigures],
  exports: [MetricsService],
})
export class MetricsModule {}
