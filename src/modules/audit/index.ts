export { Actor, type PlanTerms } from './audit-entry.entity';
export { AuditModule, AuditTrail } from './audit-trail';
