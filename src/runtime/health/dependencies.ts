import { Injectable, Optional } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { DataSource } from 'typeorm';
import { ReadReplicas, migrationStates } from '#libs/database';
import { KeyDirectory } from '../../modules/auth';
import { InstanceWatch, QuotaStore } from '../../modules/quotas';

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
    @Optional() private readonly readReplicas?: ReadReplicas,
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

  /** Without any of them the primary answers everything. Anybody may ask here, so their addresses are not told. */
  replicas(): HealthIndicatorResult {
    if (this.readReplicas === undefined) {
      return {};
    }
    const { states } = this.readReplicas;
    const inUse = states.filter((state) => state.inUse).length;
    return this.indicator.check('replicas').up({ configured: states.length, inUse });
  }
}
