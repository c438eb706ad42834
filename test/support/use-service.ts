import { type ServiceOptions, type TestService, startService } from './service';

/**
 * A service for all tests of the file, or of the `describe`, that calls this: started before them, closed after them.
 * @returns what becomes the running service before the first test; until then it is an empty object
 */
export function useService(options?: ServiceOptions): TestService {
  const service = {} as TestService;
  let started: TestService | undefined;
  beforeAll(async () => {
    started = await startService(options);
    Object.setPrototypeOf(service, started);
  });
  afterAll(() => started?.close());
  return service;
}
