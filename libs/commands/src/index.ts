export { COUNTED_AT_MOST } from './batch-loader';
export type { Command, Need, Origin } from './command';
export { CommandExecutor } from './command-executor';
export { CommandsModule } from './commands.module';
export { IdempotencyInProgressError, IdempotencyKeyReusedError, isNotKept } from './idempotency-records';
export { Idempotent } from './idempotency.interceptor';
export { SentBy } from './sent-by.decorator';
export type { Entity, Figure, Journal, RowChange, State } from './state';
