import { type CanActivate, type ExecutionContext, Inject, Injectable, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DECORATORS } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Clock } from '#libs/clock';
import { RetentionModule } from '#libs/database';
import { deprecationOf, isSunset, OperationGoneError } from '#libs/http';
import { SETTINGS, type Settings } from '../../settings';
import { DeprecatedCall } from './deprecated-call.entity';
import { DeprecatedCalls } from './deprecated-calls';

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
    const deprecation = deprecationOf(request);
    if (deprecation === undefined) {
      return true;
    }
    if (request.caller?.holder) {
      this.calls.record(request.caller.holder.keyId, operationIdOf(context));
    }
    if (this.settings.afterSunset === 'gone' && isSunset(deprecation, this.clock.now())) {
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
    RetentionModule.keep({ table: 'deprecated_calls', dayColumn: 'day', days: KEPT_DAYS }),
  ],
  providers: [DeprecatedCalls, SunsetGuard],
  exports: [SunsetGuard],
})
export class DeprecationsModule {}
