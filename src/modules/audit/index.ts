export { Actor, AuditModule, AuditTrail } from './audit-trail';
