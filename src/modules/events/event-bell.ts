import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { Database } from '#libs/database';

/** Notified when there are new events. */
export const EVENTS_CHANNEL = 'petstore_events';
/** A notification for every commit would cost as much as the events themselves. */
const PAUSE_MS = 20;

/** Notifies all processes of new events, at most once every 20 ms. */
@Injectable()
export class EventBell implements OnModuleDestroy {
  private readonly logger = new Logger(EventBell.name);
  private isPending = false;
  private ringing?: Promise<void>;

  constructor(private readonly database: Database) {}

  ring(): void {
    this.isPending = true;
    this.ringing ??= this.notify();
  }

  /** Sends a pending notification. */
  async onModuleDestroy(): Promise<void> {
    await this.ringing;
  }

  private async notify(): Promise<void> {
    while (this.isPending) {
      this.isPending = false;
      try {
        await this.database.query(`NOTIFY ${EVENTS_CHANNEL}`);
      } catch (error) {
        // No event is lost: followers read the feed with their next request, and deliveries poll it.
        this.logger.warn(`New events could not be announced: ${String(error)}`);
      }
      await pause(PAUSE_MS);
    }
    this.ringing = undefined;
  }
}
