import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { CommandExecutor, type Entity, type RowChange, type State } from '#libs/database';
import { EVENT_JOURNAL, EVENT_TYPES, type RecordedEvent } from './event-blocks';

/** An event before it is stored. */
export interface Occurrence extends Pick<RecordedEvent, 'type' | 'data'> {
  /** The pet concerned, if any. */
  petId?: number;
}

/** Modules register here which changes of their rows are events. Events are written in the transaction of the change. */
@Injectable()
export class EventLog {
  /** Events that this process has written, by their type. */
  readonly written: Record<string, number> = Object.fromEntries(EVENT_TYPES.map((type) => [type, 0]));

  constructor(private readonly commands: CommandExecutor) {}

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
    });
  }
}
