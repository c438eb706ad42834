import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { DataSource } from 'typeorm';
import { migrationStates } from '#libs/database';
import { KeyDirectory } from '../../modules/auth';
import { InstanceWatch, QuotaStore } from '../../modules/quotas';
import { openDescriptors } from './open-descriptors';

/** Past this share of the limit, new connections are soon closed without an answer: callers are better off elsewhere. */
const MOST_DESCRIPTORS = 0.9;

/** What the service depends on, besides a database that answers. */
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

  /** All migrations of this version have run. Asked until it is so: migrations are not taken back. */
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

  /** Keys whose changes are not heard of are remembered for less than a second: slower, but right. */
  keys(): HealthIndicatorResult {
    return this.indicator.check('keys').up({ changesHeard: this.directory.listening });
  }

  /** Limits counted alone are no reason to send requests elsewhere: elsewhere they are counted alone as well. */
  limits(): HealthIndicatorResult {
    const state = { degraded: this.quotas.isDegraded(), shared: this.instances.limitsShared };
    return this.indicator.check('limits').up(state);
  }

  /** Where the system does not tell, there is nothing to say. */
  async descriptors(): Promise<HealthIndicatorResult> {
    const descriptors = await openDescriptors();
    if (descriptors === undefined) {
      return {};
    }
    const session = this.indicator.check('descriptors');
    return descriptors.open > MOST_DESCRIPTORS * descriptors.limit
      ? session.down({ message: 'nearly all file descriptors are in use' })
      : session.up();
  }
}
