import { ClientsService } from '../../../../../src/modules/auth';
import { QuotaCounters } from '../../../../../src/modules/quotas';
import type { KeyOptions, TestService } from '../../../../support/service';
import { useInstances } from '../../../../support/use-service';

/**
 * Two instances in this process, over one database and one Redis, with clocks that stand still.
 * @param urls returns by which address each instance reaches Redis, which a `beforeAll` above has started
 */
export function usePair(urls: () => string[]) {
  const options = [0, 1].map((at) => () => ({ settings: { redisUrl: urls()[at], instances: 2 } }));
  const services = useInstances(...options) as [TestService, TestService];
  return {
    services,

    /** A new client, with a caller for either instance. */
    async client(keyOptions: KeyOptions = {}) {
      const { key, keyId, client } = await services[0].issueKey(keyOptions);
      const { id: clientId } = await services[0].app.get(ClientsService).get(client);
      return { clientId, key, keyId, callers: services.map((service) => service.callerWith(key)) };
    },

    /** Whether each instance counts alone. */
    get degraded(): boolean[] {
      return services.map(({ app }) => app.get(QuotaCounters).isDegraded);
    },

    advance(milliseconds: number): void {
      services.forEach(({ clock }) => clock.advance(milliseconds));
    },
  };
}
