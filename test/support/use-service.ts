import { Arrange, type InventoryItem } from './builders';
import { beforeTests } from './before-tests';
import { type ServiceOptions, type TestService, startService } from './service';

type Options = ServiceOptions | (() => ServiceOptions);

/**
 * A service for all tests of the file, or of the `describe`, that calls this: started before them, closed after them.
 * @param options a function if they need values that exist only when the tests begin
 */
export function useService(options: Options = {}): TestService {
  return useInstances(options)[0]!;
}

/** Several such services, which share the database of the first one. */
export function useInstances(...all: Options[]): TestService[] {
  const started: TestService[] = [];
  const services = all.map((options) =>
    beforeTests(async () => {
      const own = typeof options === 'function' ? options() : options;
      const service = await startService({ database: started[0]?.database, ...own });
      started.push(service);
      return service;
    }),
  );
  afterAll(async () => {
    for (const service of started.reverse()) await service.close();
  });
  return services;
}

/** A service, a caller whose limits no test reaches, and helpers that create resources and read the stock of a pet. */
export function useStore(options?: Options) {
  const service = useService(options);
  const caller = beforeTests(() => service.caller());
  const inventory = async (petId: number) =>
    (await caller.get<InventoryItem>(`/store/inventory/${petId}`)).body;
  return { service, caller, arrange: new Arrange(caller), inventory };
}
