import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RetentionModule } from '#libs/database';
import { EXPIRED, IdempotencyRecord } from './idempotency-records';

/** Deletes responses that will not be replayed any more. */
@Module({
  imports: [
    TypeOrmModule.forFeature([IdempotencyRecord]),
    RetentionModule.keep({ table: 'idempotency_records', expired: () => EXPIRED, everyMs: 600_000 }),
  ],
})
export class IdempotencyModule {}
