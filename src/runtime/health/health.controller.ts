import { Controller, Get, HttpCode } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { HealthCheckResult } from '@nestjs/terminus';
import { SkipThrottle } from '@nestjs/throttler';
import { Public } from '../../modules/auth';
import { Readiness } from './readiness';

/** For operators: not in the interface description, without a key and never counted. */
@ApiExcludeController()
@Controller('health')
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  /** The process responds. */
  @Get('live')
  @Public()
  @SkipThrottle({ minute: true, day: true })
  @HttpCode(200)
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /**
   * Whether the service accepts requests; 503 while the database is unavailable, while file descriptors run out, and
   * before shutdown.
   */
  @Get('ready')
  @Public()
  @SkipThrottle({ minute: true, day: true })
  ready(): Promise<HealthCheckResult> {
    return this.readiness.check();
  }
}
