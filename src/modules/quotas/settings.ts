import { type Values, integer, isWellFormedUrl, taking, variable } from '../../runtime/environment';

/**
 * The URLs that ioredis understands completely. ioredis would ignore any other part of a URL, or fail because of it at each
 * connection.
 */
const REDIS_URL = /^rediss?:\/\/[^/?#]+(\/\d*)?(\?commandTimeout=[1-9]\d*)?$/;
const REDIS_URLS =
  'a redis:// or rediss:// URL, whose path may only be a database number, or several URLs without a path, separated by commas';

const redisUrl = taking(
  REDIS_URLS,
  (text) => {
    const urls = text.split(',').map((one) => one.trim());
    // The nodes of a Redis cluster have one database only, so several URLs must not name a database.
    const isNode = (one: string) => urls.length === 1 || !/[1-9]/.test(new URL(one).pathname);
    const areUrls = urls.every((one) => REDIS_URL.test(one) && isWellFormedUrl(one) && isNode(one));
    return areUrls ? urls.join(',') : undefined;
  },
  '…',
);

export const QUOTA_VARIABLES = {
  /**
   * If absent, this process counts the limits alone. The URLs of several nodes of a Redis cluster are separated by commas.
   */
  redisUrl: variable('REDIS_URL', redisUrl, undefined, { secret: true }),
  /**
   * How many instances share the limits. While Redis is unavailable, each instance allows an equal share of every limit.
   */
  instances: variable('INSTANCES', integer(1, 10_000), 1),
};

export type QuotaSettings = Values<typeof QUOTA_VARIABLES>;
