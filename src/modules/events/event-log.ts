import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { RepeatingTask } from '#libs/clock';
import { CommandExecutor, Database, type Entity, type RowChange, type State } from '#libs/database';
import { EVENT_JOURNAL, EVENT_TYPES, type RecordedEvent } from './event-blocks';

/** Notified when there are new events. */
export const EVENTS_CHANNEL = 'petstore_events';
/** A notification for every commit would cost as much as the events themselves. */
const PAUSE_MS = 20;

/** An event before it is stored. */
export interface Occurrence extends Pick<RecordedEvent, 'type' | 'data'> {
  /** The pet concerned, if any. */
  petId?: number;
}

/**
 * Modules register here which changes of their rows are events. Events are written in the transaction of the change, and all
 * processes are notified of them.
 */
@Injectable()
export class EventLog implements OnModuleDestroy {
  /** Events that this process has written, by their type. */
  readonly written: Record<string, number> = Object.fromEntries(EVENT_TYPES.map((type) => [type, 0]));

  private announced?: Promise<void>;
  /** No event is lost if it fails: followers read the feed with their next request, and deliveries poll it. */
  private readonly announcing = new RepeatingTask({
    name: 'Announcing new events',
    work: async () => {
      // SQL: TypeORM has no word for it.
      await this.database.run({ text: `NOTIFY ${EVENTS_CHANNEL}` });
      await pause(PAUSE_MS);
    },
  });

  constructor(
    private readonly commands: CommandExecutor,
    private readonly database: Database,
  ) {}

  /** Sends a pending notification. */
  async onModuleDestroy(): Promise<void> {
    await this.announced;
  }

  /** @param eventsOf maps a changed row to its events, if any; the state is that after the command */
  report<Row extends object>(
    entity: Entity<Row>,
    eventsOf: (change: RowChange<Row>, state: State) => Occurrence[],
  ): void {
    this.commands.onChange(entity, {
      notify: (change, state) => eventsOf(change, state).forEach((occurrence) => this.add(state, occurrence)),
    });
  }

  /** Adds an event to those of a command. */
  add(state: State, { type, petId, data }: Occurrence): void {
    state.append(EVENT_JOURNAL, { id: randomUUID().replaceAll('-', ''), type, petId: petId ?? null, data });
    state.afterCommit(() => {
      this.written[type]! += 1;
      this.announced = this.announcing.runNow();
    });
  }
}
