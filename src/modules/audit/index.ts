export {
  Actor,
  type AuditEntry,
  type AuditFilter,
  type PlanTerms,
  type RecordedEntry,
  type StoreEntry,
} from './audit-entry';
export { AuditModule } from './audit.module';
export { AuditTrail } from './audit-trail';
