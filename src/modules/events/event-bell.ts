import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { Database } from '#libs/database';

/** Notified when there are new events. */
export const EVENTS_CHANNEL = 'petstore_events';
/** A notification for every commit would cost as much as the events themselves. */
const PAUSE_MS = 20;

/** Notifies all processes of new events, at most once every 20 ms. */
@Injectable()
export class EventBell implements OnModuleDestroy {
  private readonly logger = new Logger(EventBell.name);
  private isRung = false;
  private ringing?: Promise<void>;
  private pause?: NodeJS.Timeout;

  constructor(private readonly database: Database) {}

  ring(): void {
    this.isRung = true;
    if (this.ringing === undefined && this.pause === undefined) {
      this.notify();
    }
  }

  /** Sends a pending notification. */
  async onModuleDestroy(): Promise<void> {
    await this.ringing;
    clearTimeout(this.pause);
    if (this.isRung) {
      this.notify();
      await this.ringing;
      clearTimeout(this.pause);
    }
  }

  private notify(): void {
    this.isRung = false;
    this.ringing = this.database
      .query(`NOTIFY ${EVENTS_CHANNEL}`)
      .then(() => undefined)
      // No event is lost: followers read the feed with their next request, and deliveries poll it.
      .catch((error: unknown) => this.logger.warn(`New events could not be announced: ${String(error)}`))
      .finally(() => {
        this.ringing = undefined;
        this.pause = setTimeout(() => {
          this.pause = undefined;
          if (this.isRung) {
            this.notify();
          }
        }, PAUSE_MS);
      });
  }
}
