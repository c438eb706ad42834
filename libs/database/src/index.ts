export { PageReader, type Parameter, type Selection } from './pages';
export { CommandExecutor, CommandsModule } from './commands/command-executor';
export {
  type IdempotentUse,
  type KeptResponse,
  KeyInUseError,
  KeyReusedError,
} from './commands/idempotency-records';
export {
  type Aggregate,
  type Command,
  type Entity,
  type Journal,
  MAX_COUNT,
  type Need,
  type Origin,
  Participants,
  type State,
} from './commands/state';
export { type CopiedTable, copyDatabase } from './copy';
export { Database, DatabaseModule, ReadOnlyDatabaseError, type Transaction } from './database';
export { GeneratedId, OF_THE_DATABASE, PostgresNames } from './entity-table';
export {
  MigrationLockError,
  UnsuitableDatabaseError,
  assertKnownMigrations,
  migrate,
  migrationStates,
} from './migrations';
export {
  isDatabaseUnavailable,
  isRefusedStatement,
  isSerializationConflict,
  violates,
} from './postgres-errors';
export { giveUpSilentConnection, poolOf, type SharedRead, type Statement, type StoredRow } from './session';
export { type RetentionOptions, Retention, RetentionModule, olderThan } from './retention';
