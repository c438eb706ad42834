import type { ClientsService, KeyDescription, KeysService } from '../../modules/auth/administration';
import type { BanRegister } from '../../modules/quotas/administration';
import { administerAccounts } from '../command/command';
import type { Row } from '../output/output';

type Client = Awaited<ReturnType<ClientsService['named']>>;
type Key = Awaited<ReturnType<KeysService['byId']>>;

export interface AccountServices {
  clients: ClientsService;
  keys: KeysService;
  bans: BanRegister;
  describeClient: (client: Client) => Row;
  describeKey: (key: Key) => KeyDescription;
}

/** Runs a command on clients and keys. */
export async function withAccounts<Result>(
  work: (services: AccountServices) => Promise<Result>,
  reason?: string,
): Promise<Result> {
  const [auth, { BanRegister, limitsOf }] = await Promise.all([
    import('../../modules/auth/administration.js'),
    import('../../modules/quotas/administration.js'),
  ]);
  const describeClient = (client: Client): Row => {
    const { id, name, plan, createdAt } = client;
    const { perMinute, perDay } = limitsOf(client);
    return { id, name, plan, perMinute, perDay, createdAt: createdAt.toISOString() };
  };
  const describeKey = (key: Key) => auth.describeKey(key, Date.now());
  return administerAccounts((services) => {
    const [clients, keys] = [services.get(auth.ClientsService), services.get(auth.KeysService)];
    return work({ clients, keys, bans: services.get(BanRegister), describeClient, describeKey });
  }, reason);
}
