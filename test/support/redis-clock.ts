import type { Clock } from '#libs/clock';
import { RedisConnection } from '../../src/modules/quotas/counters/redis-connection';
import { QUOTA_SCRIPT } from '../../src/modules/quotas/counters/quota-script';

/** The script with the time of its argument instead of the time of Redis. */
const SCRIPT_ON_CLOCK = QUOTA_SCRIPT.replace("redis.call('TIME')", 'given.time');

/** A connection to Redis whose script gets the time from a clock that tests move. With `aheadMs`, Redis is ahead of it. */
export class RedisOnClock extends RedisConnection {
  aheadMs = 0;

  constructor(
    url: string,
    private readonly clock: Clock,
  ) {
    super(url, SCRIPT_ON_CLOCK);
  }

  override run(keys: [string, string], argument: string): Promise<unknown> {
    const now = this.clock.now() + this.aheadMs;
    // Redis returns its time as seconds and the microseconds since then.
    const time = [Math.floor(now / 1_000), (now % 1_000) * 1_000];
    return super.run(keys, JSON.stringify({ ...(JSON.parse(argument) as object), time }));
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
