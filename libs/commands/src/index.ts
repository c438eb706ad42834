export { COUNTED_AT_MOST } from './batch-loader';
export type { Command, Need, Origin } from './command';
export { CommandExecutor } from './command-executor';
export { CommandsModule } from './commands.module';
export { IdempotencyInProgressError, IdempotencyKeyReusedError } from './idempotency-errors';
export { isNotKept } from './idempotency-records';
export { Idempotent } from './idempotent.decorator';
export { SentBy } from './sent-by.decorator';
export type { Entity, Figure, Journal, RowChange, State } from './state';
