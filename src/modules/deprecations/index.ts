export { DeprecationReport, SunsetGuard } from './deprecated-calls';
export { DeprecationReportModule, DeprecationsModule } from './deprecations.module';
