import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { DECORATORS } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Clock } from '#libs/clock';
import { OperationGoneError, deprecationOf, isSunset } from '#libs/deprecation';
import { SETTINGS, type Settings } from '../../settings';
import { DeprecatedCalls } from './deprecated-calls';

/** Notes who calls a deprecated operation, and closes it after its sunset when the service is set to do so. */
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

/** The operation's name in the document: a handler's own name says little and is not unique. */
function operationIdOf(context: ExecutionContext): string {
  const operation = Reflect.getMetadata(DECORATORS.API_OPERATION, context.getHandler()) as {
    operationId: string;
  };
  return operation.operationId;
}
