import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Feature } from '../../feature';
import { EXPIRED, IdempotencyRecord } from './keyed-request';

export { Source } from './command-source';
export { SendsCommands } from './idempotency.interceptor';
export { ANY_RESPONSE, IdempotencyInProgressError, KEPT_ERRORS, KeyedRequest } from './keyed-request';

@Module({ imports: [TypeOrmModule.forFeature([IdempotencyRecord])] })
class IdempotencyModule {}

export const IDEMPOTENCY: Feature = {
  module: IdempotencyModule,
  expiredRows: [{ table: 'idempotency_records', condition: () => EXPIRED }],
};
