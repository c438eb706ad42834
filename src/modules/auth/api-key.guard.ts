import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ACCESS_RULE, type AccessRule } from './auth.decorators';
import { InsufficientScopeError, MissingApiKeyError } from './auth.errors';

/** Refuses who has no valid key, or one without the operation's scope. A handler without a rule is a defect, which a test finds. */
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
