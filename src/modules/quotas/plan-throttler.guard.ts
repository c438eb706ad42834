import {
  type ExecutionContext,
  Inject,
  Injectable,
  SetMetadata,
  type Type,
  applyDecorators,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ThrottlerGuard, type ThrottlerModuleOptions, type ThrottlerRequest } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import { Documented } from '#libs/http';
import { Authenticator, RequiresKey } from '../auth';
import { ApiKeyBannedError, DailyQuotaExceededError, RequestLimiter, senderOf } from './request-limiter';
import { MINUTE_MS } from './rules/limits';

/** One throttler, with the minute of the sender's plan: the guard takes its day in the same step. */
export function planThrottler(authenticator: Authenticator): ThrottlerModuleOptions {
  const limit = async (context: ExecutionContext): Promise<number> =>
    (await senderOf(requestOf(context), authenticator)).limits.perMinute;
  return [{ ttl: MINUTE_MS, limit }];
}

const COUNTED_ONLY_WITHOUT_KEY = 'quotas:counted-only-without-key';

/**
 * The operation needs a valid key, whatever its scopes. Requests with one use no quota and ignore limits and bans. Others
 * count, because each forged key costs a database lookup.
 */
export function CountedOnlyWithoutKey(): MethodDecorator {
  return applyDecorators(
    RequiresKey(),
    SetMetadata(COUNTED_ONLY_WITHOUT_KEY, true),
    // Addresses have no daily limit and no bans.
    Documented({ never: [ApiKeyBannedError, DailyQuotaExceededError] }),
  );
}

/** How the names of the package's metadata start, and ours. */
const NAMES = /^(THROTTLER|quotas):/;

/** Remembers which handlers have metadata for the guard. The package asks for it seven times for each request. */
@Injectable()
export class HandlerMetadata extends Reflector {
  private readonly decorated = new Map<Type, boolean>();

  override getAllAndOverride = (key: unknown, targets: Type[]): never => {
    const [handler] = targets;
    let isDecorated = this.decorated.get(handler!);
    if (isDecorated === undefined) {
      const names = targets.flatMap((target) => Reflect.getMetadataKeys(target) as unknown[]);
      isDecorated = names.some((name) => NAMES.test(String(name)));
      this.decorated.set(handler!, isDecorated);
    }
    return (isDecorated ? super.getAllAndOverride(key, targets) : undefined) as never;
  };
}

/**
 * First guard: counts the request, and refuses it over the limit or with a banned key. The package's own storage would take
 * one window after the other, so that a request refused by the day would use up the minute, and its headers have other
 * meanings.
 */
@Injectable()
export class PlanThrottlerGuard extends ThrottlerGuard {
  @Inject() private readonly limiter!: RequestLimiter;
  @Inject() private readonly authenticator!: Authenticator;

  protected override async shouldSkip(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context);
    // Not counted, unless `handleRequest` follows.
    request.admission = null;
    const targets = [context.getHandler(), context.getClass()];
    if (!this.reflector.getAllAndOverride<boolean | undefined>(COUNTED_ONLY_WITHOUT_KEY, targets)) {
      return false;
    }
    await this.getTracker(request);
    return request.caller!.holder !== null;
  }

  /** Identifies the caller. @returns the client or the address whose requests count together */
  protected override async getTracker(request: FastifyRequest): Promise<string> {
    const subject = await senderOf(request, this.authenticator);
    return subject.kind === 'client' ? `client ${subject.clientId}` : subject.address;
  }

  /** Takes the request from both windows, in one step. */
  protected override async handleRequest({ context, getTracker }: ThrottlerRequest): Promise<boolean> {
    const request = requestOf(context);
    await getTracker(request, context);
    const { refusal } = await this.limiter.admit(request);
    if (refusal !== null) {
      await this.throwThrottlingException(context);
    }
    return true;
  }

  protected override throwThrottlingException(context: ExecutionContext): Promise<void> {
    return Promise.reject(requestOf(context).admission!.refusal!);
  }
}

function requestOf(context: ExecutionContext): FastifyRequest {
  return context.switchToHttp().getRequest<FastifyRequest>();
}
