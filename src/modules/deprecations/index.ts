export { DeprecationReport, type DeprecatedUse } from './deprecation-report';
export { DeprecationReportModule } from './deprecation-report.module';
export { DeprecationsModule } from './deprecations.module';
export { SunsetGuard } from './sunset.guard';
