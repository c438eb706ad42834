import { rm } from 'node:fs/promises';
import type { EmbeddedPostgres } from '#libs/embedded-postgres';
import { installation } from '../installation';

export default async function stop(): Promise<void> {
  const { testPostgres, testPostgresDirectory } = globalThis as unknown as {
    testPostgres?: EmbeddedPostgres;
    testPostgresDirectory: string;
  };
  // Two projects share one server, and this runs once for each of them.
  if (testPostgres !== undefined) {
    Object.assign(globalThis, { testPostgres: undefined });
    await testPostgres.stop();
    await rm(testPostgresDirectory, { recursive: true, force: true });
    await rm(installation(), { recursive: true, force: true });
  }
}
