import { Module } from '@nestjs/common';
import { AuthModule } from '../../modules/auth';
import { QuotasModule } from '../../modules/quotas';
import { MetricsService } from './metrics.service';
import { ServiceFigures } from './service-figures';

export { MetricsService, type MetricsAddress } from './metrics.service';

@Module({
  imports: [AuthModule, QuotasModule],
  providers: [MetricsService, ServiceFigures],
  exports: [MetricsService],
})
export class MetricsModule {}
