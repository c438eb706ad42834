import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AccessRules } from './access-rules';
import { Authenticator } from './authenticator';

/** First guard: finds out who calls. It lets everybody on, because the next one has to count strangers too. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly rules: AccessRules,
    private readonly authenticator: Authenticator,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (request.caller || this.rules.of(context) === 'public') {
      return true;
    }
    const identified = this.authenticator.identify(request);
    return identified instanceof Promise ? identified.then(() => true) : true;
  }
}
