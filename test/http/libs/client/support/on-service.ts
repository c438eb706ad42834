import { type PetStoreClient, type PetStoreOptions, createPetStoreClient } from '#libs/client';
import type { KeyOptions, TestService } from '../../../../support/service';

export interface OnService {
  client: PetStoreClient;
  /** The client's name in the service. */
  name: string;
  /** Statuses in the order in which they arrived. */
  statuses: number[];
}

/** A client of the running service with a key of its own. Where it waits, the service's clock moves instead. */
export async function onService(
  service: TestService,
  keyOptions: KeyOptions = {},
  options: Partial<PetStoreOptions> = {},
): Promise<OnService> {
  const { key, client: name } = await service.issueKey(keyOptions);
  const statuses: number[] = [];
  const client = createPetStoreClient({
    baseUrl: service.url,
    apiKey: key,
    now: () => service.clock.now(),
    sleep: (milliseconds) => {
      service.clock.advance(milliseconds);
      return Promise.resolve();
    },
    fetch: async (request) => {
      const response = await fetch(request);
      statuses.push(response.status);
      return response;
    },
    ...options,
  });
  return { client, name, statuses };
}
