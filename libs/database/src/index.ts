export { type List, nameBeginsWith } from './page-statements';
export { PageReader, type Parameter, type Selection } from './page-reader';
export { ConcurrencyLimiter } from './concurrency-limiter';
export { COUNTED_AT_MOST } from './commands/batch-loader';
export type { Command, Need, Origin } from './commands/command';
export { CommandExecutor } from './commands/command-executor';
export { CommandsModule } from './commands/commands.module';
export {
  IdempotencyInProgressError,
  IdempotencyKeyReusedError,
  isNotKept,
} from './commands/idempotency-records';
export { Idempotent } from './commands/idempotency.interceptor';
export { SentBy } from './commands/sent-by.decorator';
export type { Entity, Figure, Journal, RowChange, State } from './commands/state';
export { columnNames, copyInto, copyRow, countRows, numberRows } from './bulk';
export { Database, type Transaction, withRetries } from './database';
export { DatabaseModule } from './database.module';
export { DatabaseUrl } from './database-url';
export { type EntityTable, type RowLock } from './entity-table';
export { GeneratedId, int8, int8ToNumber } from './int8';
export type { LongTransactionOptions } from './long-transaction';
export { migrate, migrationStates, type MigrationState } from './migrations';
export { NotificationListener, type Subscription } from './notification-listener';
export { namePrefix, type PreparedStatement } from './prepared';
export {
  isDatabaseUnavailable,
  isRefusedStatement,
  isSerializationConflict,
  violatesCheck,
  violatesForeignKey,
  violatesUnique,
} from './postgres-errors';
export type { SharedRead } from './reads';
export type { Session, StoredRow } from './session';
export { giveUpSilentConnection } from './silent-connections';
export { type RetentionOptions, Retention, RetentionModule } from './retention';
export { type ArchiveHeader, ArchiveReader } from './transfer/archive';
export { assertReadable, loadArchive } from './transfer/load-archive';
export { DamagedArchiveError } from './transfer/tar';
export { NothingToArchiveError, writeArchive } from './transfer/write-archive';
export { type BatchWriter, type WriteBehindOptions, WriteBehind } from './write-behind';
