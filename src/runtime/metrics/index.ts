import { Module } from '@nestjs/common';
import { AuthModule } from '../../modules/auth';
import { QuotasModule } from '../../modules/quotas';
import { EventsModule } from '../../modules/events';
import { EventFigures } from './event-figures';
import { MetricsService } from './metrics.service';
import { ServiceFigures } from './service-figures';

export { MetricsService } from './metrics.service';
export { type MetricsAddress, serveMetrics } from './serve-metrics';

@Module({
  imports: [AuthModule, QuotasModule, EventsModule],
  providers: [MetricsService, ServiceFigures, EventFigures],
  exports: [MetricsService],
})
export class MetricsModule {}
