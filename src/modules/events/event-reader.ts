import { Injectable } from '@nestjs/common';
import { Database } from '#libs/database';
import { type EventFilter, eventListStatement, newestEventsStatement } from './event-list-statement';
import { StoredEvent } from './event.entity';

/** Reads of events. */
@Injectable()
export class EventReader {
  constructor(private readonly database: Database) {}

  /** Events after a position, in their order. */
  after(position: number, filter: EventFilter, most: number): Promise<StoredEvent[]> {
    return this.database.rows(StoredEvent, eventListStatement(this.columns, filter, position, most));
  }

  /** The newest events, in their order. */
  async newest(filter: EventFilter, most: number): Promise<StoredEvent[]> {
    const statement = newestEventsStatement(this.columns, filter, most);
    return (await this.database.rows(StoredEvent, statement)).reverse();
  }

  /** The position of the newest event there is; 1 when there is none. */
  async end(): Promise<number> {
    return (await this.newest({}, 1))[0]?.position ?? 1;
  }

  /** True for a position that was assigned already, though its event may be gone. */
  async isKnown(position: number): Promise<boolean> {
    const [row] = await this.database.query<{ known: boolean }>(
      `SELECT $1 <= last_value AS known FROM events_position_seq`,
      [position],
    );
    return row!.known;
  }

  private get columns(): string {
    return this.database.table(StoredEvent).names;
  }
}
