import { Injectable, Module } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Clock, DAY_MS, utcDate } from '#libs/clock';
import { int8ToNumber } from '#libs/database';
import { DeprecatedCall } from './deprecated-call.entity';

export interface DeprecatedUse {
  /** The operationId in the OpenAPI document. */
  operation: string;
  client: string;
  keyId: number;
  /** The key's last four characters. */
  endsWith: string;
  calls: number;
  lastCallAt: Date;
}

/** The driver returns a bigint as text. */
type UseRow = Omit<DeprecatedUse, 'keyId' | 'calls'> & Record<'keyId' | 'calls', string>;

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
    const used = this.calls
      .createQueryBuilder('used')
      .innerJoin('api_keys', 'key', 'key.id = used.keyId')
      .innerJoin('clients', 'client', 'client.id = key.client_id')
      .select('used.operation', 'operation')
      .addSelect('client.name', 'client')
      .addSelect('key.id', 'keyId')
      .addSelect('key.last4', 'endsWith')
      .addSelect('sum(used.calls)::bigint', 'calls')
      .addSelect('max(used.lastCallAt)', 'lastCallAt')
      .where('used.day >= :since', { since: utcDate(this.clock.now() - (days - 1) * DAY_MS) })
      .groupBy('used.operation, client.id, key.id')
      .orderBy('used.operation')
      .addOrderBy('sum(used.calls)', 'DESC')
      .addOrderBy('key.id');
    if (client !== undefined) {
      used.andWhere('client.name = :client', { client });
    }
    const rows = await used.getRawMany<UseRow>();
    // TypeORM selects columns of the entity first; people read who calls before how often.
    return rows.map(({ operation, client: name, keyId, endsWith, calls, lastCallAt }) => ({
      operation,
      client: name,
      keyId: int8ToNumber(keyId),
      endsWith,
      calls: int8ToNumber(calls),
      lastCallAt,
    }));
  }
}

/** The report for operators, without the recording of calls. */
@Module({
  imports: [TypeOrmModule.forFeature([DeprecatedCall])],
  providers: [DeprecationReport],
  exports: [DeprecationReport],
})
export class DeprecationReportModule {}
