export { columnNames, copyInto, copyRow, countRows, numberRows } from './bulk';
export { type CopiedTable, CopyMismatchError, type CopyOptions, copyDatabase } from './copy-database';
export { Database, type Transaction, withRetries } from './database';
export { DatabaseModule, DatabaseUrl } from './database.module';
export { type EntityTable, type RowLock } from './entity-table';
export { GeneratedId, int8, int8ToNumber } from './int8';
export type { LongTransactionOptions } from './long-transaction';
export { migrate, migrationStates, type MigrationState } from './migrations';
export { NotificationListener, type NotificationListenerOptions } from './notification-listener';
export { catalogTables } from './table-catalog';
export { namePrefix, type PreparedStatement } from './prepared';
export {
  isDatabaseUnavailable,
  isRefusedStatement,
  isSerializationConflict,
  violatesCheck,
  violatesForeignKey,
  violatesUnique,
} from './postgres-errors';
export { RowReader } from './row-reader';
export type { Session, StoredRow } from './session';
export { giveUpSilentConnection } from './silent-connections';
