import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { DatabaseUrl, NotificationListener } from '#libs/database';
import { QuotaStore } from '../store/quota-store';

/** Notified by a trigger on the table key_bans; the payload is the key's id. */
const BANS_CHANNEL = 'petstore_bans';

/** Keeps this instance's knowledge of bans right when somebody else makes or lifts one. */
@Injectable()
export class BanListener implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger(BanListener.name);
  private readonly listener: NotificationListener;

  constructor(store: QuotaStore, databaseUrl: DatabaseUrl) {
    const reload = (keyId?: number) => {
      store.reloadBans(keyId).catch((error: unknown) => {
        this.logger.warn(`A change of bans could not be taken over: ${String(error)}`);
      });
    };
    this.listener = new NotificationListener({
      url: databaseUrl.value,
      channel: BANS_CHANNEL,
      onNotification: (keyId) => reload(Number(keyId)),
      // What changed while nothing was heard may concern any key.
      onState: (listening) => listening && reload(),
    });
  }

  async onModuleInit(): Promise<void> {
    await this.listener.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.listener.close();
  }
}
