import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Clock } from '#libs/clock';
import { OperationGoneError } from '#libs/http';
import { SETTINGS } from '../../settings/settings';
import { DeprecatedCalls } from './deprecated-calls';
import type { DeprecationSettings } from './settings';

/** Counts calls of deprecated operations. If AFTER_SUNSET is `gone`, rejects calls after the operation's sunset. */
@Injectable()
export class SunsetGuard implements CanActivate {
  constructor(
    private readonly calls: DeprecatedCalls,
    private readonly clock: Clock,
    @Inject(SETTINGS) private readonly settings: DeprecationSettings,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { deprecation } = request.routeOptions.config;
    if (deprecation === undefined) {
      return true;
    }
    if (request.client?.key) {
      this.calls.record(request.client.key.id, deprecation.operationId);
    }
    if (this.settings.afterSunset === 'gone' && this.clock.now() >= Date.parse(deprecation.sunset)) {
      throw new OperationGoneError();
    }
    return true;
  }
}
