export { Actor, AuditModule, AuditTrail, type PlanTerms } from './audit-trail';
