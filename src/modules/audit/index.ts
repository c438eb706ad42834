export { Actor, AuditModule, AuditTrail, changesOf } from './audit-trail';
