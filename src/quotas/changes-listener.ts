import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { DatabaseUrl, NotificationListener } from '#libs/database';
import { QuotaStore } from './store/quota-store';

/** Notified by a trigger on the table key_bans; the payload is the key's id. */
const BANS_CHANNEL = 'petstore_bans';
/** Notified by a trigger on the table quota_resets; the payload is the client's id. */
const RESETS_CHANNEL = 'petstore_quota_resets';

/** Keeps this instance's counting right when somebody else makes or lifts a ban, or resets a client's windows. */
@Injectable()
export class ChangesListener implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger(ChangesListener.name);
  private readonly listener: NotificationListener;

  constructor(
    private readonly store: QuotaStore,
    databaseUrl: DatabaseUrl,
  ) {
    this.listener = new NotificationListener({
      url: databaseUrl.value,
      channels: [BANS_CHANNEL, RESETS_CHANNEL],
      onNotification: (id, channel) => this.takeOver(channel, Number(id)),
      // What changed while nothing was heard may concern anybody.
      onState: (listening) =>
        listening && [BANS_CHANNEL, RESETS_CHANNEL].forEach((all) => this.takeOver(all)),
    });
  }

  async onModuleInit(): Promise<void> {
    await this.listener.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.listener.close();
  }

  private takeOver(channel: string, id?: number): void {
    const taken = channel === BANS_CHANNEL ? this.store.reloadBans(id) : this.store.reloadResets(id);
    taken.catch((error: unknown) => {
      this.logger.warn(`A change heard of on ${channel} could not be taken over: ${String(error)}`);
    });
  }
}
