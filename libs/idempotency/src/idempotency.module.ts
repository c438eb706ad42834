import {
  type DynamicModule,
  Module,
  type OnModuleDestroy,
  type OnModuleInit,
  type Type,
} from '@nestjs/common';
import { IdempotencyOwner } from './idempotency.interceptor';
import { IdempotencyRecords } from './idempotency-records';

const CLEAN_UP_MS = 10 * 60_000;

@Module({})
export class IdempotencyModule implements OnModuleInit, OnModuleDestroy {
  private timer?: NodeJS.Timeout;

  constructor(private readonly records: IdempotencyRecords) {}

  /** @param owner tells whose key a request carries */
  static forRoot(owner: Type<IdempotencyOwner>): DynamicModule {
    return {
      module: IdempotencyModule,
      global: true,
      providers: [IdempotencyRecords, { provide: IdempotencyOwner, useClass: owner }],
      exports: [IdempotencyRecords, IdempotencyOwner],
    };
  }

  onModuleInit(): void {
    // An expired answer is never replayed, so a turn missed while the database is away does no harm.
    this.timer = setInterval(() => void this.records.deleteExpired().catch(() => undefined), CLEAN_UP_MS);
    this.timer.unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }
}
