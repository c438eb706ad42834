import type { ApiClient } from './api-client';
import { Arrange } from './builders';
import { type ServiceOptions, type TestService, startService } from './service';

/**
 * A service for all tests of the file, or of the `describe`, that calls this: started before them, closed after them.
 * @param options may be told when it starts, for what is not there before
 * @returns what becomes the running service before the first test; until then it is an empty object
 */
export function useService(options?: ServiceOptions | (() => ServiceOptions)): TestService {
  const service = {} as TestService;
  let started: TestService | undefined;
  beforeAll(async () => {
    started = await startService(typeof options === 'function' ? options() : options);
    Object.setPrototypeOf(service, started);
  });
  afterAll(() => started?.close());
  return service;
}

/** Such a service, with a caller whom no limit stops, and what creates things through him. */
export function useStore(options?: ServiceOptions | (() => ServiceOptions)) {
  const service = useService(options);
  const caller = {} as ApiClient;
  beforeAll(async () => {
    Object.setPrototypeOf(caller, await service.caller());
  });
  return { service, caller, arrange: new Arrange(caller) };
}
