export { Actor, type AuditFilter, type PlanTerms, type RecordedEntry, type OrderAction } from './audit-entry';
export { AuditModule } from './audit.module';
export { AuditTrail } from './audit-trail';
