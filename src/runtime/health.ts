import { readFile, readdir } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { Controller, Get, HttpException, Injectable, Module } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { SkipThrottle } from '@nestjs/throttler';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { migrationStates } from '#libs/database';
import { AuthModule, KeyDirectory, Public } from '../modules/auth';
import { InstanceWatch, QuotaStore, QuotasModule } from '../modules/quotas';

const DATABASE_TIMEOUT_MS = 2_000;
/** One result is reused for this long, because anybody may call it and must not keep the database busy. */
const READY_MS = 500;
/** Above this share of the limit, new connections will soon be refused: other instances should take the load. */
const MAX_DESCRIPTORS = 0.9;

/** A 503 with the Error body, like every failure. The reason is only in the log. */
class NotReadyError extends HttpException {
  constructor(reason: string) {
    super(`Not ready: ${reason}.`, 503);
  }
}

type States = Record<string, { status: 'up' } & Record<string, unknown>>;

/** The states of all dependencies. Nothing but `details` varies: with a failure the response is a 503. */
interface Ready {
  status: 'ok';
  info: States;
  error: object;
  details: States;
}

const UP = { status: 'up' } as const;

/** Whether the service should receive requests. */
@Injectable()
export class Readiness {
  private ending = false;
  private migrated = false;
  private checkedAt = -Infinity;
  private result?: Promise<Ready>;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly directory: KeyDirectory,
    private readonly quotas: QuotaStore,
    private readonly instances: InstanceWatch,
  ) {}

  /** Reports not ready from now on: the service is about to stop. */
  end(): void {
    this.ending = true;
  }

  /** Rejects with 503 when the service is not ready. */
  check(): Promise<Ready> {
    if (this.ending) {
      return Promise.reject(new NotReadyError('the service is stopping'));
    }
    const now = performance.now();
    if (now - this.checkedAt > READY_MS) {
      this.checkedAt = now;
      this.result = this.checkAll();
      // Callers get the failure. Without callers it would be an unhandled rejection.
      this.result.catch(() => undefined);
    }
    return this.result!;
  }

  private async checkAll(): Promise<Ready> {
    await this.expectDatabase();
    await this.expectMigrations();
    const details = {
      database: UP,
      migrations: UP,
      // Without notifications, keys are cached for less than a second: slower, but correct.
      keys: { ...UP, changesHeard: this.directory.listening },
      // Always up: while Redis is unavailable, other instances count alone as well.
      limits: { ...UP, degraded: this.quotas.isDegraded(), shared: this.instances.limitsShared },
      ...((await expectDescriptors()) && { descriptors: UP }),
    };
    return { status: 'ok', info: details, error: {}, details };
  }

  private async expectDatabase(): Promise<void> {
    const failure = await Promise.race([
      this.dataSource.query('SELECT 1').then(
        () => undefined,
        () => 'it does not answer',
      ),
      pause(DATABASE_TIMEOUT_MS, `no answer in ${DATABASE_TIMEOUT_MS} ms`, { ref: false }),
    ]);
    if (failure !== undefined) {
      throw new NotReadyError(`database (${failure})`);
    }
  }

  /** All migrations of this version have run. Once true it stays true: migrations are not reverted. */
  private async expectMigrations(): Promise<void> {
    const states = this.migrated ? [] : await migrationStates(this.dataSource);
    const pending = states.filter(({ state }) => state === 'pending').map(({ migration }) => migration);
    if (pending.length > 0) {
      throw new NotReadyError(`migrations (pending: ${pending.join(', ')})`);
    }
    this.migrated = true;
  }
}

/** Returns whether the system reports the numbers: all but Linux have no /proc. */
async function expectDescriptors(): Promise<boolean> {
  try {
    const limits = await readFile('/proc/self/limits', 'utf8');
    const limit = Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity);
    const { length: open } = await readdir('/proc/self/fd');
    if (open <= MAX_DESCRIPTORS * limit) {
      return true;
    }
  } catch (error) {
    // Without a free descriptor these files cannot be opened either.
    if ((error as NodeJS.ErrnoException).code !== 'EMFILE') {
      return false;
    }
  }
  throw new NotReadyError('descriptors (nearly all file descriptors are in use)');
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
