import { Injectable } from '@nestjs/common';
import { type KeyHolder } from '../auth';
import { QuotaAdministration } from './quota-administration';
import { limitsOf } from './rules/limits';
import { QuotaStore, type Standing } from './stores/quota-store';

/** What callers ask about their own limits. */
@Injectable()
export class QuotasService {
  constructor(
    private readonly store: QuotaStore,
    private readonly administration: QuotaAdministration,
  ) {}

  /** Both windows and the bans of the key, as the counter has them. */
  async standingOf(holder: KeyHolder): Promise<Standing> {
    const { clientId, keyId } = holder;
    return this.store.look({ kind: 'client', clientId, keyId, limits: limitsOf(holder) });
  }

  /** The client's requests of the last `days` UTC days, including the latest ones. */
  async usageOf({ clientId }: KeyHolder, days: number): Promise<{ date: string; requests: number }[]> {
    await this.store.flush();
    return this.administration.usageOf(clientId, days);
  }
}
