import { HttpException, Injectable } from '@nestjs/common';
import {
  HealthCheckService,
  type HealthCheckResult,
  type HealthIndicatorResult,
  TypeOrmHealthIndicator,
} from '@nestjs/terminus';
import { Dependencies } from './dependencies';

const DATABASE_TIMEOUT_MS = 2_000;
/** One result is reused for this long, because anybody may call it and must not keep the database busy. */
const READY_MS = 500;

/** A 503 with the Error body, like every failure. The reason is only in the log. */
class NotReadyError extends HttpException {
  constructor(reason: string) {
    super(`Not ready: ${reason}.`, 503);
  }
}

/** Whether the service should receive requests. */
@Injectable()
export class Readiness {
  private ending = false;
  private askedAt = -Infinity;
  private answer?: Promise<HealthCheckResult>;

  constructor(
    private readonly health: HealthCheckService,
    private readonly database: TypeOrmHealthIndicator,
    private readonly dependencies: Dependencies,
  ) {}

  /** Reports not ready from now on: the service is about to stop. */
  end(): void {
    this.ending = true;
  }

  /** The state of each dependency. Rejects with 503 when the service is not ready. */
  check(): Promise<HealthCheckResult> {
    if (this.ending) {
      return Promise.reject(new NotReadyError('the service is stopping'));
    }
    const now = performance.now();
    if (now - this.askedAt > READY_MS) {
      this.askedAt = now;
      this.answer = this.look();
      // Callers get the failure. Without callers it would be an unhandled rejection.
      this.answer.catch(() => undefined);
    }
    return this.answer!;
  }

  private async look(): Promise<HealthCheckResult> {
    try {
      return await this.health.check([
        () => this.lookAtDatabase(),
        () => this.dependencies.keys(),
        () => this.dependencies.limits(),
        () => this.dependencies.descriptors(),
      ]);
    } catch (error) {
      throw error instanceof HttpException ? new NotReadyError(causeOf(error)) : error;
    }
  }

  /** Runs further checks only if the database responds in time. */
  private async lookAtDatabase(): Promise<HealthIndicatorResult> {
    const ping = await this.database.pingCheck('database', { timeout: DATABASE_TIMEOUT_MS });
    return ping.database.status === 'up' ? { ...ping, ...(await this.dependencies.migrations()) } : ping;
  }
}

/** The failed checks with their messages: `database (timeout of 2000ms exceeded)`. */
function causeOf(failure: HttpException): string {
  const { error } = failure.getResponse() as { error?: Record<string, Record<string, unknown>> };
  return Object.entries(error ?? {})
    .map(([name, { status: _status, ...details }]) => {
      // A ping that fails immediately has no message.
      const { message = Object.keys(details).length > 0 ? details : 'it does not answer' } = details;
      return `${name} (${typeof message === 'string' ? message : JSON.stringify(message)})`;
    })
    .join(', ');
}
