export { MetricsModule } from './metrics.module';
export { MetricsService, type MetricsAddress } from './metrics.service';
