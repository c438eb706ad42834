import type { Clock } from '#libs/clock';
import { RedisConnection } from '../../src/modules/quotas/stores/redis-connection';
import { QUOTA_SCRIPT } from '../../src/modules/quotas/stores/quota-script';

/** Goes before a script, which then gets the last argument for the time of Redis. */
const TIME = `
local server, time = redis, table.remove(ARGV)
local redis = { call = function(name, ...)
  if name == 'TIME' then return {math.floor(time / 1000), time % 1000 * 1000} end
  return server.call(name, ...)
end }
`;

/** A Redis whose script reads the time from a clock that a test moves; the clock of Redis may be ahead of it. */
export class RedisOnClock extends RedisConnection {
  aheadMs = 0;

  constructor(
    url: string,
    private readonly clock: Clock,
  ) {
    super(url, TIME + QUOTA_SCRIPT);
  }

  override run(keys: string[], values: (string | number)[]): Promise<unknown> {
    return super.run(keys, [...values, this.clock.now() + this.aheadMs]);
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
