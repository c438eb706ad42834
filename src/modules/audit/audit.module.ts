import { type DynamicModule, Module } from '@nestjs/common';
import { Actor } from './audit-entry';
import { AuditTrail } from './audit-trail';

/** The audit log, for the service and the command line alike. */
@Module({})
export class AuditModule {
  /** @param actor the author of all changes made by this application */
  static forRoot(actor: Actor): DynamicModule {
    return {
      module: AuditModule,
      global: true,
      providers: [AuditTrail, { provide: Actor, useValue: actor }],
      exports: [Actor, AuditTrail],
    };
  }
}
