export {
  Actor,
  type AuditFilter,
  type PlanTerms,
  type RecordedEntry,
  type OrderAction,
} from './audit-entry.entity';
export { AuditModule, AuditTrail } from './audit-trail';
