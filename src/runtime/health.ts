import { readFile, readdir } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { Controller, Get, HttpException, Injectable, Module } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { SkipThrottle } from '@nestjs/throttler';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Database, ReadOnlyDatabaseError, migrationStates } from '#libs/database';
import { AuthModule, KeyDirectory, Public } from '../modules/auth';
import { InstanceWatch, QuotaStore, QuotasModule } from '../modules/quotas';

const DATABASE_TIMEOUT_MS = 2_000;
/** One result is reused for this long, because anybody may call it and must not keep the database busy. */
const READY_MS = 500;
/** Above this share of the limit, new connections will soon be refused: other instances should take the load. */
const MAX_DESCRIPTORS = 0.9;

const STOPPING = 'the service is stopping';

/** A 503 with the Error body, like every failure. The reason is only in the log. */
class NotReadyError extends HttpException {
  constructor(reason: string) {
    super(`Not ready: ${reason}.`, 503);
  }
}

const UP = { status: 'up' } as const;

/** The body of a 200. Nothing but `details` varies: with a failure the response is a 503. */
interface Ready {
  status: 'ok';
  info: object;
  error: object;
  details: object;
}

/** The states of what the service needs, for the response and for metrics. */
export interface ReadinessState {
  /** Why the service should receive no requests; undefined if it should. */
  reason: string | undefined;
  database: boolean;
  /** Migrations that have not run; undefined if the database was not asked. */
  pending: string[] | undefined;
  /** Whether notifications arrive. Without them, keys are cached for less than a second: slower, but correct. */
  changesHeard: boolean;
  /** Whether limits are counted here alone, because Redis is unavailable. Other instances do so as well. */
  limitsDegraded: boolean;
}

/** Whether the service should receive requests. */
@Injectable()
export class Readiness {
  private ending = false;
  private migrated = false;
  private checkedAt = -Infinity;
  private result?: Promise<ReadinessState>;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly database: Database,
    private readonly directory: KeyDirectory,
    private readonly quotas: QuotaStore,
    private readonly instances: InstanceWatch,
  ) {}

  /** Reports not ready from now on: the service is about to stop. */
  end(): void {
    this.ending = true;
  }

  /** Rejects with 503 when the service is not ready. */
  async check(): Promise<Ready> {
    if (this.ending) {
      throw new NotReadyError(STOPPING);
    }
    const { reason, changesHeard, limitsDegraded } = await this.state();
    if (reason !== undefined) {
      throw new NotReadyError(reason);
    }
    const details = {
      database: UP,
      migrations: UP,
      keys: { ...UP, changesHeard },
      limits: {
        ...UP,
        degraded: limitsDegraded,
        shared: this.instances.limitsShared,
        evictionPolicy: this.quotas.redis.evictionPolicy,
      },
    };
    return { status: 'ok', info: details, error: {}, details };
  }

  /** Never rejects. */
  state(): Promise<ReadinessState> {
    const now = performance.now();
    if (now - this.checkedAt > READY_MS) {
      this.checkedAt = now;
      this.result = this.checkAll();
    }
    return this.result!;
  }

  private async checkAll(): Promise<ReadinessState> {
    const failure = await this.databaseFailure();
    const pending = failure === undefined ? await this.pendingMigrations() : undefined;
    return {
      reason: this.ending ? STOPPING : (failure ?? migrationFailure(pending) ?? (await descriptorFailure())),
      database: failure === undefined,
      pending,
      changesHeard: this.directory.listening,
      limitsDegraded: this.quotas.redis.isDegraded,
    };
  }

  private async databaseFailure(): Promise<string | undefined> {
    const failure = await Promise.race([
      this.database.assertWritable().then(
        () => undefined,
        (error: unknown) =>
          error instanceof ReadOnlyDatabaseError ? 'it is read-only' : 'it does not answer',
      ),
      pause(DATABASE_TIMEOUT_MS, `no answer in ${DATABASE_TIMEOUT_MS} ms`, { ref: false }),
    ]);
    return failure && `database (${failure})`;
  }

  /** Once all migrations of this version have run, they are no longer checked: migrations are not reverted. */
  private async pendingMigrations(): Promise<string[] | undefined> {
    if (this.migrated) {
      return [];
    }
    const states = await migrationStates(this.dataSource).catch(() => undefined);
    const pending = states?.filter(({ state }) => state === 'pending').map(({ migration }) => migration);
    this.migrated = pending?.length === 0;
    return pending;
  }
}

function migrationFailure(pending: string[] | undefined): string | undefined {
  if (pending === undefined) {
    return 'migrations (they cannot be read)';
  }
  return pending.length > 0 ? `migrations (pending: ${pending.join(', ')})` : undefined;
}

/** Only Linux reports the numbers: elsewhere there is no /proc. */
async function descriptorFailure(): Promise<string | undefined> {
  try {
    const limits = await readFile('/proc/self/limits', 'utf8');
    const limit = Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity);
    const { length: open } = await readdir('/proc/self/fd');
    if (open <= MAX_DESCRIPTORS * limit) {
      return undefined;
    }
  } catch (error) {
    // Without a free descriptor these files cannot be opened either.
    if ((error as NodeJS.ErrnoException).code !== 'EMFILE') {
      return undefined;
    }
  }
  return 'descriptors (nearly all file descriptors are in use)';
}

/** For operators: not in the interface description, without a key and never counted. */
@ApiExcludeController()
@Controller('health')
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  /** The process responds. */
  @Get('live')
  @Public()
  @SkipThrottle({ minute: true, day: true })
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
  ready(): Promise<Ready> {
    return this.readiness.check();
  }
}

/** Liveness and readiness checks. */
@Module({
  imports: [AuthModule, QuotasModule],
  controllers: [HealthController],
  providers: [Readiness],
  exports: [Readiness],
})
export class HealthModule {}
