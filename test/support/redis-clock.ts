import type { Clock } from '#libs/clock';
import { RedisConnection } from '../../src/modules/quotas/counters/redis-connection';
import type { ScriptArgument } from '../../src/modules/quotas/counters/quota-script';

/** A Redis whose script is given the time of a clock that a test moves; the clock of Redis may be ahead of it. */
export class RedisOnClock extends RedisConnection {
  aheadMs = 0;

  constructor(
    url: string,
    private readonly clock: Clock,
  ) {
    super(url);
  }

  override run(keys: [string, string], argument: string): Promise<unknown> {
    const given = JSON.parse(argument) as ScriptArgument;
    given.redisNow = this.clock.now() + this.aheadMs;
    return super.run(keys, JSON.stringify(given));
  }
}

/** So long that Redis is away only when a test has it so, and not so long that a test has to wait for it. */
const PATIENT = '?commandTimeout=2000';

export function patient(urls: string): string {
  return urls
    .split(',')
    .map((url) => (url.includes('?') ? url : url + PATIENT))
    .join();
}
