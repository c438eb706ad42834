import type { Clock } from '#libs/clock';
import { RedisConnection } from '../../src/modules/quotas/counters/redis-connection';
import type { ScriptArgument } from '../../src/modules/quotas/counters/quota-script';

/** A connection to Redis whose script gets the time from a clock that tests move. With `aheadMs`, Redis is ahead of it. */
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

/** The time limit of a command. It is long enough for slow machines, and short enough for tests in which Redis does not answer. */
const PATIENT = '?commandTimeout=2000';

/** The URLs with this time limit, but a URL with options of its own stays as it is. */
export function patient(urls: string): string {
  return urls
    .split(',')
    .map((url) => (url.includes('?') ? url : url + PATIENT))
    .join();
}
