export { type PageRange, PageReader, type Select } from './pages';
export { CommandExecutor, type WriteModel } from './engine/command-executor';
export {
  type Command,
  type Entity,
  type Lookup,
  type Need,
  type CommandSource,
  type RowChange,
  type State,
} from './engine/state';
export { type CopiedTable, copyDatabase } from './copy';
export { detectPooler, giveUpSilentConnection, poolOf } from './pg-driver';
export { Database, DatabaseModule, ReadOnlyDatabaseError, type Transaction } from './database';
export { BYTEWISE_TEXT, GeneratedId, PostgresNames, WRITTEN_BY_SQL } from './typeorm';
export {
  MigrationLockError,
  UnsuitableDatabaseError,
  assertKnownMigrations,
  collationOf,
  migrate,
  migrationStates,
} from './migrations';
export {
  isDatabaseUnavailable,
  isRefusedStatement,
  isSerializationConflict,
  loggableError,
  violates,
} from './engine/postgres-errors';
export { type CallerId, SERVICE_CALLER_ID } from './engine/queue';
export { Insert } from './engine/insert';
export { TRANSACTION_TIMEOUTS } from './engine/transaction';
export type { SharedRead, Statement, StoredRow } from './engine/session';
export { type ExpiredRows, Retention, olderThan } from './retention';
