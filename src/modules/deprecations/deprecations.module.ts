import { type CanActivate, type ExecutionContext, Inject, Injectable, Module } from '@nestjs/common';
import { DECORATORS } from '@nestjs/swagger';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { FastifyRequest } from 'fastify';
import { Clock } from '#libs/clock';
import { RetentionModule, olderThan } from '#libs/database';
import { deprecationOf, isGone, OperationGoneError } from '#libs/http';
import { SETTINGS, type Settings } from '../../settings';
import { DeprecatedCall, DeprecatedCalls, DeprecationReport } from './deprecated-calls';

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

/** The report for operators, without the recording of calls. */
@Module({
  imports: [TypeOrmModule.forFeature([DeprecatedCall])],
  providers: [DeprecationReport],
  exports: [DeprecationReport],
})
export class DeprecationReportModule {}

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
