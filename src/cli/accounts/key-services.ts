import type { KeyDescription, KeysService } from '../../modules/auth/administration';
import type { BanRegister } from '../../modules/quotas/administration';
import { administerAccounts } from '../command/command';

export interface KeyServices {
  keys: KeysService;
  bans: BanRegister;
  describe: (key: Awaited<ReturnType<KeysService['byId']>>) => KeyDescription;
}

/** Runs a command on keys. */
export async function keysAndBans<Result>(
  work: (services: KeyServices) => Promise<Result>,
  reason?: string,
): Promise<Result> {
  const [{ KeysService, describeKey }, { BanRegister }] = await Promise.all([
    import('../../modules/auth/administration.js'),
    import('../../modules/quotas/administration.js'),
  ]);
  const describe: KeyServices['describe'] = (key) => describeKey(key, Date.now());
  return administerAccounts(
    (all) => work({ keys: all.get(KeysService), bans: all.get(BanRegister), describe }),
    reason,
  );
}
