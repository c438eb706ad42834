import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { CommandExecutor, type Entity, type RowChange, type State } from '#libs/database';
import { EventBell } from './event-bell';
import { EVENT_JOURNAL } from './event-journal';
import { EVENT_TYPES, type EventType } from './event-types';

/** An event before it is stored. */
export interface Occurrence {
  type: EventType;
  /** The pet concerned, if any. */
  petId?: number;
  /** The resource as GET returns it right after the event, or right before it was removed. */
  data: object;
}

/** Modules register here which changes of their rows are events. Events are written in the transaction of the change. */
@Injectable()
export class EventLog {
  /** Events that this process has written, by their type. */
  readonly written: Record<string, number> = Object.fromEntries(EVENT_TYPES.map((type) => [type, 0]));

  constructor(
    private readonly commands: CommandExecutor,
    private readonly bell: EventBell,
  ) {}

  /** @param eventsOf maps a changed row to its events, if any; the state is that after the command */
  report<Row extends object>(
    entity: Entity<Row>,
    eventsOf: (change: RowChange<Row>, state: State) => Occurrence[],
  ): void {
    this.commands.onChange(entity, (change, state) => {
      for (const { type, petId = null, data } of eventsOf(change, state)) {
        state.append(EVENT_JOURNAL, { id: randomUUID().replaceAll('-', ''), type, petId, data });
        state.afterCommit(() => {
          this.written[type]! += 1;
          this.bell.ring();
        });
      }
    });
  }
}
