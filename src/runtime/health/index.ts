export { HealthModule } from './health.module';
export { Readiness } from './readiness';
