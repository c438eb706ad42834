import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ACCESS_RULE, type AccessRule } from './auth.decorators';
import { InsufficientScopeError, MissingApiKeyError } from './auth.errors';

/**
 * Rejects requests without a valid key, or without the scope that the operation needs. A test checks that every handler
 * declares a rule.
 */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const declared = Reflect.getMetadata(ACCESS_RULE, context.getHandler()) as AccessRule | undefined;
    const rule = declared ?? 'write';
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
