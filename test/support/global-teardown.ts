import { rm } from 'node:fs/promises';
import type { EmbeddedPostgres } from '#libs/embedded-postgres';

export default async function globalTeardown(): Promise<void> {
  const { testPostgres, testPostgresDirectory } = globalThis as unknown as {
    testPostgres: EmbeddedPostgres;
    testPostgresDirectory: string;
  };
  await testPostgres.stop();
  await rm(testPostgresDirectory, { recursive: true, force: true });
  await rm(process.env.TEST_INSTALLATIONS!, { recursive: true, force: true });
}
