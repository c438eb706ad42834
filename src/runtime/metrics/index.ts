export { MetricsService, serveMetrics } from './metrics.service';
export { RequestMetrics } from './request-metrics';
export { MetricsModule } from './service-metrics';
