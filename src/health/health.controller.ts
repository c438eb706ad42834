import { Controller, Get, HttpCode } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import {
  HealthCheckService,
  type HealthCheckResult,
  HealthIndicatorService,
  TypeOrmHealthIndicator,
} from '@nestjs/terminus';
import { SkipThrottle } from '@nestjs/throttler';
import { KeyDirectory, Public } from '../auth';
import { QuotaStore } from '../quotas';

const DATABASE_TIMEOUT_MS = 2_000;
/** For so long one answer serves all: anybody may ask, and must not keep the database busy with it. */
const READY_MS = 500;

/** For whoever runs the service; outside of the interface description, without a key and never counted. */
@ApiExcludeController()
@SkipThrottle()
@Controller('health')
export class HealthController {
  private askedAt = -Infinity;
  private answer?: Promise<HealthCheckResult>;

  constructor(
    private readonly health: HealthCheckService,
    private readonly database: TypeOrmHealthIndicator,
    private readonly indicator: HealthIndicatorService,
    private readonly directory: KeyDirectory,
    private readonly quotas: QuotaStore,
  ) {}

  /** The process runs and answers. */
  @Get('live')
  @Public()
  @HttpCode(200)
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** The service can do its work; 503 while the database is away. */
  @Get('ready')
  @Public()
  ready(): Promise<HealthCheckResult> {
    const now = performance.now();
    if (now - this.askedAt > READY_MS) {
      this.askedAt = now;
      this.answer = this.check();
      // Whoever asked is told of a failure; nobody may be waiting when it comes.
      this.answer.catch(() => undefined);
    }
    return this.answer!;
  }

  private check(): Promise<HealthCheckResult> {
    return this.health.check([
      () => this.database.pingCheck('database', { timeout: DATABASE_TIMEOUT_MS }),
      () => this.indicator.check('keys').up({ changesHeard: this.directory.listening }),
      // Limits counted alone are no reason to send requests elsewhere: elsewhere they are counted alone as well.
      () => this.indicator.check('limits').up({ degraded: this.quotas.isDegraded() }),
    ]);
  }
}
