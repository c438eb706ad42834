import { RedisServer } from '../../../../support/redis-server';
import { TcpProxy } from '../../../../support/tcp-proxy';
import { Pair } from './pair';
import { until } from '../../../../support/eventually';

/** A pair whose instances can be cut off from Redis, which runs on and keeps what it knows. */
export class CutOffPair {
  private constructor(
    readonly redis: RedisServer,
    /** The way of either instance to Redis. */
    private readonly ways: [TcpProxy, TcpProxy],
    readonly pair: Pair,
  ) {}

  /** Resolves when both count together. */
  static async start(): Promise<CutOffPair> {
    const redis = await RedisServer.start();
    const ways: [TcpProxy, TcpProxy] = [await TcpProxy.start(redis.url), await TcpProxy.start(redis.url)];
    const pair = await Pair.start(ways[0].url, ways[1].url);
    return new CutOffPair(redis, ways, pair);
  }

  /** Resolves when the instance counts alone. */
  async loseRedis(instance: 0 | 1): Promise<void> {
    await this.ways[instance].refuse();
    await until(() => this.pair.degraded[instance]!);
  }

  /** Resolves when the instance counts together with the other one. */
  async findRedis(instance: 0 | 1): Promise<void> {
    await this.ways[instance].restore();
    await until(() => !this.pair.degraded[instance]);
  }

  async close(): Promise<void> {
    await this.pair.close();
    await Promise.all(this.ways.map((way) => way.close()));
    await this.redis.close();
  }
}
