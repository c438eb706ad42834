import {
  type CanActivate,
  type ExecutionContext,
  Inject,
  Injectable,
  Module,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { DECORATORS } from '@nestjs/swagger';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import type { FastifyRequest } from 'fastify';
import { Repository } from 'typeorm';
import { Clock, DAY_MS, utcDate } from '#libs/clock';
import { RetentionModule, olderThan, WriteBehind } from '#libs/database';
import { deprecationOf, isGone, OperationGoneError } from '#libs/http';
import { SETTINGS, type Settings } from '../../settings';
import { DeprecatedCall } from './deprecated-call.entity';

const INTERVAL_MS = 5_000;

interface Calls {
  keyId: number;
  operation: string;
  /** Days since 1970-01-01 UTC. */
  day: number;
  calls: number;
  /** Unix milliseconds. */
  lastCallAt: number;
}

/** Counts calls of deprecated operations by key, operation and UTC day; writes in batches. */
@Injectable()
export class DeprecatedCalls implements OnApplicationShutdown {
  private readonly calls: WriteBehind<Calls>;

  constructor(
    @InjectRepository(DeprecatedCall) private readonly recorded: Repository<DeprecatedCall>,
    private readonly clock: Clock,
  ) {
    this.calls = new WriteBehind<Calls>({
      name: 'Saving calls of deprecated operations',
      intervalMs: INTERVAL_MS,
      merge: (earlier, later) => ({ ...later, calls: earlier.calls + later.calls }),
      write: (batch) => this.write([...batch.values()]),
    });
  }

  record(keyId: number, operation: string): void {
    const lastCallAt = this.clock.now();
    const day = Math.floor(lastCallAt / DAY_MS);
    this.calls.add(`${keyId} ${day} ${operation}`, { keyId, operation, day, calls: 1, lastCallAt });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.calls.close();
  }

  private async write(batch: Calls[]): Promise<void> {
    await this.recorded.query(
      // SQL, because TypeORM cannot add to what is stored.
      // Skips keys that have been deleted: one of them would make the batch fail repeatedly.
      `INSERT INTO deprecated_calls (key_id, operation, day, calls, last_call_at)
       SELECT called.* FROM unnest($1::bigint[], $2::text[], $3::date[], $4::bigint[], $5::timestamptz[])
         AS called (key_id, operation, day, calls, last_call_at)
       WHERE EXISTS (SELECT FROM api_keys WHERE api_keys.id = called.key_id)
       ON CONFLICT (key_id, operation, day) DO UPDATE SET calls = deprecated_calls.calls + excluded.calls,
         last_call_at = greatest(deprecated_calls.last_call_at, excluded.last_call_at)`,
      [
        batch.map(({ keyId }) => keyId),
        batch.map(({ operation }) => operation),
        batch.map(({ day }) => utcDate(day * DAY_MS)),
        batch.map(({ calls }) => calls),
        batch.map(({ lastCallAt }) => new Date(lastCallAt).toISOString()),
      ],
    );
  }
}

/** Records calls of deprecated operations. After the sunset it rejects them if AFTER_SUNSET is `gone`. */
@Injectable()
export class SunsetGuard implements CanActivate {
  constructor(
    private readonly calls: DeprecatedCalls,
    private readonly clock: Clock,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (this.settings.afterSunset === 'gone') {
      request.goneUntil = this.clock.now();
    }
    const deprecation = deprecationOf(request);
    if (deprecation === undefined) {
      return true;
    }
    if (request.caller?.holder) {
      this.calls.record(request.caller.holder.keyId, operationIdOf(context));
    }
    if (isGone(deprecation, request)) {
      throw new OperationGoneError();
    }
    return true;
  }
}

/** The operationId, because handler names are not unique. */
function operationIdOf(context: ExecutionContext): string {
  const operation = Reflect.getMetadata(DECORATORS.API_OPERATION, context.getHandler()) as {
    operationId: string;
  };
  return operation.operationId;
}

/** Including today. */
const KEPT_DAYS = 90;

/** Deprecated operations: who calls them, and their sunset. */
@Module({
  imports: [
    TypeOrmModule.forFeature([DeprecatedCall]),
    RetentionModule.keep({ table: 'deprecated_calls', expired: olderThan(KEPT_DAYS) }),
  ],
  providers: [DeprecatedCalls, SunsetGuard],
  exports: [SunsetGuard],
})
export class DeprecationsModule {}
