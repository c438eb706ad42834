import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AccessRules } from './access-rules';
import { InsufficientScopeError, MissingApiKeyError } from './auth.errors';

/** Third guard, after the limiter: turns away who has no valid key, or one without the operation's scope. */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(private readonly rules: AccessRules) {}

  canActivate(context: ExecutionContext): boolean {
    const rule = this.rules.of(context);
    if (rule === 'public') {
      return true;
    }
    const { caller } = context.switchToHttp().getRequest<FastifyRequest>();
    if (!caller?.holder) {
      throw caller?.refusal ?? new MissingApiKeyError();
    }
    if (rule !== 'any key' && !caller.holder.scopes.includes(rule)) {
      throw new InsufficientScopeError(rule);
    }
    return true;
  }
}
