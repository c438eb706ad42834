import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ACCESS_RULE, type AccessRule } from './auth.decorators';

/** The access rule of each handler. A handler that declares none is closed to everybody but is a defect, which a test finds. */
@Injectable()
export class AccessRules {
  private readonly rules = new Map<unknown, AccessRule>();

  constructor(private readonly reflector: Reflector) {}

  of(context: ExecutionContext): AccessRule {
    const handler = context.getHandler();
    let rule = this.rules.get(handler);
    if (rule === undefined) {
      rule = this.reflector.get<AccessRule | undefined>(ACCESS_RULE, handler) ?? 'write';
      this.rules.set(handler, rule);
    }
    return rule;
  }
}
