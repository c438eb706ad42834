import { type DynamicModule, Module } from '@nestjs/common';
import { Actor } from './actor';
import { AuditTrail } from './audit-trail';

/** The trail for everybody who changes clients and keys, whichever door that is done through. */
@Module({})
export class AuditModule {
  /** @param actor who does what is done through this application */
  static forRoot(actor: Actor): DynamicModule {
    return {
      module: AuditModule,
      global: true,
      providers: [AuditTrail, { provide: Actor, useValue: actor }],
      exports: [AuditTrail],
    };
  }
}
