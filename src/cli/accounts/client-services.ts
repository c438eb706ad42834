import type { ClientsService, KeyDescription, KeysService } from '../../modules/auth/administration';
import { administerAccounts } from '../command/command';
import type { Row } from '../output/output';

type Client = Awaited<ReturnType<ClientsService['named']>>;
type Key = Awaited<ReturnType<KeysService['byId']>>;

export interface ClientServices {
  clients: ClientsService;
  keys: KeysService;
  describe: (client: Client) => Row;
  describeKey: (key: Key) => KeyDescription;
}

/** Runs a command on clients. */
export async function withClients<Result>(
  work: (services: ClientServices) => Promise<Result>,
  reason?: string,
): Promise<Result> {
  const [auth, { limitsOf }] = await Promise.all([
    import('../../modules/auth/administration.js'),
    import('../../modules/quotas/administration.js'),
  ]);
  const describe = (client: Client): Row => {
    const { id, name, plan, createdAt } = client;
    const { perMinute, perDay } = limitsOf(client);
    return { id, name, plan, perMinute, perDay, createdAt: createdAt.toISOString() };
  };
  const describeKey = (key: Key) => auth.describeKey(key, Date.now());
  return administerAccounts((services) => {
    const [clients, keys] = [services.get(auth.ClientsService), services.get(auth.KeysService)];
    return work({ clients, keys, describe, describeKey });
  }, reason);
}
