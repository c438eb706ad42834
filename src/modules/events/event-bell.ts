import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { Database } from '#libs/database';

/** Heard by whoever follows the feed, in all processes. */
export const EVENTS_CHANNEL = 'petstore_events';
/** A notification for every commit would cost as much as the events themselves. */
const PAUSE_MS = 20;

/** Tells all processes that there are new events, at once or as soon as the pause after the last time is over. */
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

  /** Tells what was not told yet. */
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
      // Nobody misses an event for it: followers read the feed with their next request, and deliveries look by themselves.
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
