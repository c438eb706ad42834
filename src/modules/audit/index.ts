import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Feature } from '../../feature';
import { AuditRecord, AuditTrail } from './audit-trail';

export { Actor, AuditTrail, beforeAndAfter } from './audit-trail';

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([AuditRecord])],
  providers: [AuditTrail],
  exports: [AuditTrail],
})
class AuditModule {}

export const AUDIT: Feature = {
  module: AuditModule,
  cliCommands: async () => [(await import('./audit.command.js')).AuditCommand],
};
