import { RedisServer } from '../../../support/redis-server';
import type { TestService } from '../../../support/service';
import { type TestDatabase, createTestDatabase } from '../../../support/test-database';
import { useService } from '../../../support/use-service';

/** How several instances may count. */
export const MODES = ['alone', 'through Redis'];

/** Two services for all tests of the `describe` that calls this, over one database and, unless they count alone, one Redis. */
export function useTwoInstances(mode: string) {
  let database: TestDatabase;
  let redis: RedisServer | undefined;
  beforeAll(async () => {
    redis = mode === 'alone' ? undefined : await RedisServer.start();
    database = await createTestDatabase();
  });
  const options = () => ({ database, settings: { redisUrl: redis?.url, instances: 2 } });
  const instances: [TestService, TestService] = [useService(options), useService(options)];
  afterAll(async () => {
    await database.drop();
    await redis?.close();
  });
  /** Has a Redis that there is lose what it knows. */
  const restartRedis = async () => {
    await redis?.stop();
    await redis?.start();
  };
  return { instances, options, restartRedis };
}
