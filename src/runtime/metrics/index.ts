export { MetricsService } from './metrics.service';
export { RequestMetrics } from './request-metrics';
export { MetricsModule } from './service-metrics';
