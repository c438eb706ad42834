export { DeprecationReport } from './deprecated-calls';
export { DeprecationReportModule, DeprecationsModule, SunsetGuard } from './deprecations.module';
