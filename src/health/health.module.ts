import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { AuthModule } from '../auth';
import { HealthController } from './health.controller';

/** Whether the service lives, and whether it is ready. */
@Module({ imports: [TerminusModule.forRoot({ logger: false }), AuthModule], controllers: [HealthController] })
export class HealthModule {}
