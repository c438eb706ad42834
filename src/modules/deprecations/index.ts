export { DeprecationReport, DeprecationReportModule } from './deprecation-report';
export { DeprecationsModule, SunsetGuard } from './deprecations.module';
