import { readFile, readdir } from 'node:fs/promises';
import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { DataSource } from 'typeorm';
import { migrationStates } from '#libs/database';
import { KeyDirectory } from '../../modules/auth';
import { InstanceWatch, QuotaStore } from '../../modules/quotas';

/** Above this share of the limit, new connections will soon be refused: other instances should take the load. */
const MAX_DESCRIPTORS = 0.9;

/** The dependencies of the service, except the database connection. */
@Injectable()
export class Dependencies {
  private migrated = false;

  constructor(
    private readonly indicator: HealthIndicatorService,
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly directory: KeyDirectory,
    private readonly quotas: QuotaStore,
    private readonly instances: InstanceWatch,
  ) {}

  /** All migrations of this version have run. Once true it stays true: migrations are not reverted. */
  async migrations(): Promise<HealthIndicatorResult> {
    const session = this.indicator.check('migrations');
    if (!this.migrated) {
      const states = await migrationStates(this.dataSource);
      const pending = states.filter(({ state }) => state === 'pending').map(({ migration }) => migration);
      if (pending.length > 0) {
        return session.down({ pending });
      }
      this.migrated = true;
    }
    return session.up();
  }

  /** Without notifications, keys are cached for less than a second: slower, but correct. */
  keys(): HealthIndicatorResult {
    return this.indicator.check('keys').up({ changesHeard: this.directory.listening });
  }

  /** Always up: while Redis is unavailable, other instances count alone as well. */
  limits(): HealthIndicatorResult {
    const state = { degraded: this.quotas.isDegraded(), shared: this.instances.limitsShared };
    return this.indicator.check('limits').up(state);
  }

  /** Reports nothing where the system does not provide the number. */
  async descriptors(): Promise<HealthIndicatorResult> {
    const descriptors = await openDescriptors();
    if (descriptors === undefined) {
      return {};
    }
    const session = this.indicator.check('descriptors');
    return descriptors.open > MAX_DESCRIPTORS * descriptors.limit
      ? session.down({ message: 'nearly all file descriptors are in use' })
      : session.up();
  }
}

/** The number of open file descriptors (connections, files) of a process, and its limit. */
interface OpenDescriptors {
  open: number;
  limit: number;
}

/** For this process. Undefined on systems without /proc (all but Linux). */
async function openDescriptors(): Promise<OpenDescriptors | undefined> {
  try {
    const limits = await readFile('/proc/self/limits', 'utf8');
    const limit = Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity);
    const { length: open } = await readdir('/proc/self/fd');
    return { open, limit };
  } catch (error) {
    // Without a free descriptor these files cannot be opened either.
    return (error as NodeJS.ErrnoException).code === 'EMFILE' ? { open: 1, limit: 1 } : undefined;
  }
}
