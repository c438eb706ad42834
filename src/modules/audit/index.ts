export { Actor } from './actor';
export type { AuditEntry, AuditFilter, PlanTerms, RecordedEntry, StoreEntry } from './audit-entry';
export { AuditModule } from './audit.module';
export { AuditTrail } from './audit-trail';
