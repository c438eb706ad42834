import { petstore, petstoreJson } from '../../../support/command-line';
import { type TestDatabase, createTestDatabase } from '../../../support/test-database';

/**
 * A database for all tests of the file, and commands on it.
 * @param group what every command begins with
 */
export function useCommandLine(...group: string[]) {
  const database = {} as TestDatabase;
  const environment = {} as { DATABASE_URL: string };
  beforeAll(async () => {
    Object.assign(database, await createTestDatabase());
    environment.DATABASE_URL = database.url;
  });
  afterAll(() => database.drop());
  return {
    database,
    environment,
    run: (...args: string[]) => petstore([...group, ...args], environment),
    json: <Printed>(...args: string[]) => petstoreJson<Printed>([...group, ...args], environment),
  };
}
