export { Retention, type RetentionOptions } from './retention';
export { RetentionModule } from './retention.module';
