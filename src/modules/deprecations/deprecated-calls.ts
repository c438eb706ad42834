// The calls of deprecated operations: how they are recorded, or refused after the sunset, and the report of them.
import {
  type CanActivate,
  type ExecutionContext,
  Inject,
  Injectable,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { DECORATORS } from '@nestjs/swagger';
import { InjectRepository } from '@nestjs/typeorm';
import type { FastifyRequest } from 'fastify';
import { Column, Entity, ForeignKey, Index, PrimaryColumn, Repository } from 'typeorm';
import { Clock, DAY_MS, utcDate, WriteBehind } from '#libs/clock';
import { isGone, OperationGoneError } from '#libs/http';
import { SETTINGS, type Settings } from '../../settings';

/** The calls of a deprecated operation with one key on one UTC day. */
@Entity('deprecated_calls')
@Index('deprecated_calls_by_day', ['day'])
export class DeprecatedCall {
  @ForeignKey('ApiKey', { onDelete: 'CASCADE' })
  @PrimaryColumn({ name: 'key_id', type: 'bigint' })
  keyId!: number;

  /** The operationId in the OpenAPI document. */
  @PrimaryColumn('text')
  operation!: string;

  /** `YYYY-MM-DD`. */
  @PrimaryColumn('date')
  day!: string;

  @Column({ type: 'bigint' })
  calls!: number;

  @Column({ name: 'last_call_at', type: 'timestamptz' })
  lastCallAt!: Date;
}

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
  private readonly calls = new WriteBehind<Calls>({
    name: 'Saving calls of deprecated operations',
    intervalMs: INTERVAL_MS,
    merge: (earlier, later) => Object.assign(later, { calls: earlier.calls + later.calls }),
    write: (batch) => this.write([...batch.values()]),
  });

  constructor(
    @InjectRepository(DeprecatedCall) private readonly recorded: Repository<DeprecatedCall>,
    private readonly clock: Clock,
  ) {}

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
      // Skips keys that are missing after a failover: one of them would make the batch fail repeatedly. OFFSET 0, so that they
      // are looked up one by one. In order, so that instances with the same callers wait for each other without a deadlock.
      `INSERT INTO deprecated_calls (key_id, operation, day, calls, last_call_at)
       SELECT called.* FROM unnest($1::bigint[], $2::text[], $3::date[], $4::bigint[], $5::timestamptz[])
         AS called (key_id, operation, day, calls, last_call_at)
       CROSS JOIN LATERAL (SELECT FROM api_keys WHERE api_keys.id = called.key_id OFFSET 0) AS known
       ORDER BY called.key_id, called.operation, called.day
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
    const { deprecation } = request.routeOptions.config;
    if (deprecation === undefined) {
      return true;
    }
    if (request.client?.key) {
      this.calls.record(request.client.key.id, operationIdOf(context));
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

interface DeprecatedUse {
  /** The operationId in the OpenAPI document. */
  operation: string;
  client: string;
  keyId: number;
  /** The key's last four characters. */
  endsWith: string;
  calls: number;
  lastCallAt: Date;
}

/** The columns are in the order in which people read them: who calls before how often. */
const REPORT = `SELECT operation, clients.name AS client, api_keys.id AS "keyId", last4 AS "endsWith", sum(calls)::bigint AS calls,
    max(last_call_at) AS "lastCallAt"
    FROM deprecated_calls JOIN api_keys ON api_keys.id = key_id JOIN clients ON clients.id = client_id
    WHERE day >= $1 AND clients.deleted_at IS NULL AND ($2::text IS NULL OR clients.name = $2)
    GROUP BY operation, clients.id, api_keys.id ORDER BY operation, sum(calls) DESC, api_keys.id`;

/** Who still calls deprecated operations, for operators. A few seconds behind. */
@Injectable()
export class DeprecationReport {
  constructor(
    @InjectRepository(DeprecatedCall) private readonly calls: Repository<DeprecatedCall>,
    private readonly clock: Clock,
  ) {}

  /**
   * Sorted by operation, then by the number of calls.
   * @param days number of UTC days, including today
   * @param client only calls of this client
   */
  async of(days: number, client?: string): Promise<DeprecatedUse[]> {
    const since = utcDate(this.clock.now() - (days - 1) * DAY_MS);
    return this.calls.query<DeprecatedUse[]>(REPORT, [since, client ?? null]);
  }
}
