import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { AuthModule } from '../../modules/auth';
import { QuotasModule } from '../../modules/quotas';
import { Dependencies } from './dependencies';
import { HealthController } from './health.controller';
import { Readiness } from './readiness';

export { Readiness } from './readiness';

/** Liveness and readiness checks. */
@Module({
  imports: [TerminusModule.forRoot({ logger: false }), AuthModule, QuotasModule],
  controllers: [HealthController],
  providers: [Dependencies, Readiness],
  exports: [Readiness],
})
export class HealthModule {}
