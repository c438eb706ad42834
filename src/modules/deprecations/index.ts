export { DeprecationReport, type DeprecatedUse, DeprecationReportModule } from './deprecation-report';
export { DeprecationsModule, SunsetGuard } from './deprecations.module';
