export { DeprecationsModule } from './deprecations.module';
export { SunsetGuard } from './sunset.guard';
