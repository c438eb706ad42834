import { type Values, integer, isWellFormedUrl, readerFor, variable } from '../../settings/environment';

/**
 * Matches only URLs whose parts all take effect. An operator would expect an effect of other parts, but ioredis ignores
 * some of these parts, and others make every connection fail.
 */
const REDIS_URL = /^rediss?:\/\/[^/?#]+(\/\d*)?(\?commandTimeout=[1-9]\d*)?$/;
const REDIS_URLS =
  'a redis:// or rediss:// URL, whose path may only be a database number, or several URLs without a path, separated by commas';

const redisUrl = readerFor(
  REDIS_URLS,
  (text) => {
    const urls = text.split(',').map((one) => one.trim());
    // Several URLs name the nodes of a cluster. A cluster has only the database 0, so its URLs may not name another database.
    const isNode = (one: string) => urls.length === 1 || !/[1-9]/.test(new URL(one).pathname);
    const areUrls = urls.every((one) => REDIS_URL.test(one) && isWellFormedUrl(one) && isNode(one));
    return areUrls ? urls.join(',') : undefined;
  },
  '…',
);

export const QUOTA_VARIABLES = {
  /**
   * If undefined, each process counts requests in its own memory. For a Redis cluster, the value has several URLs,
   * separated by commas.
   */
  redisUrl: variable('REDIS_URL', redisUrl, undefined, { secret: true }),
  /** Number of instances that share the limits. While Redis is unavailable, each instance allows an equal share of every limit. */
  instances: variable('INSTANCES', integer(1, 10_000), 1),
};

export type QuotaSettings = Values<typeof QUOTA_VARIABLES>;
