import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Feature } from '../../feature';
import { IdempotencyRecord } from './idempotency-record.entity';
import { EXPIRED } from './idempotent-request';

export {
  ANY_RESPONSE,
  IdempotencyInProgressError,
  IdempotencyKeyReusedError,
  KEPT_ERRORS,
  IdempotentRequest,
} from './idempotent-request';
export { SendsCommands, Source } from './sends-commands';

@Module({ imports: [TypeOrmModule.forFeature([IdempotencyRecord])] })
class WritesModule {}

export const WRITES: Feature = {
  module: WritesModule,
  expiredRows: [{ table: 'idempotency_records', condition: () => EXPIRED }],
};
