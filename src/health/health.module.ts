import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { AuthModule } from '../auth';
import { QuotasModule } from '../quotas';
import { HealthController } from './health.controller';

/** Whether the service lives, and whether it is ready. */
@Module({
  imports: [TerminusModule.forRoot({ logger: false }), AuthModule, QuotasModule],
  controllers: [HealthController],
})
export class HealthModule {}
