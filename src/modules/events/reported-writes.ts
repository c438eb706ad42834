// Events are written in the transaction of the change that they report.
import { randomUUID } from 'node:crypto';
import { type Entity, Insert, type Journal, type State, type WriteModel } from '#libs/database';
import type { EventType } from './event.entity';

/** An event before it is stored. */
export interface NewEvent {
  type: EventType;
  /** The pet concerned, if any. */
  petId?: number;
  /** The resource as GET returns it right after the event, or right before it was removed. */
  data: object;
}

/** SQL, because a journal of commands is a statement. */
const INSERT = new Insert('INSERT INTO events (id, type, pet_id, data)', ['uuid', 'text', 'bigint', 'text']);

const EVENT_JOURNAL: Journal<NewEvent> = {
  write: (events) => [
    INSERT.of(
      events.map(({ type, petId, data }) => [randomUUID(), type, petId ?? null, JSON.stringify(data)]),
    ),
  ],
};

/** A table whose rows commands change. */
export interface ReportedTable {
  /** Absent if another module's table is reported once more, as another resource. */
  readonly entity?: Entity;
  /** The events that report what a command did; the state is that after the command. */
  eventsOf?(state: State): NewEvent[];
}

/** @param tables all that commands change, in the order of locks and writes, parents before children */
export function reportedWrites(tables: readonly ReportedTable[]): WriteModel {
  // Children report before their parents: an order, the stock that it took, the pet. What is new comes first.
  const reporting = tables.toReversed();
  return {
    tables: tables.flatMap(({ entity = [] }) => entity),
    afterCommand: (state) => {
      const events = reporting.flatMap(({ eventsOf }) => eventsOf?.(state) ?? []);
      const created = events.filter(({ type }) => type.endsWith('.created'));
      const others = events.filter(({ type }) => !type.endsWith('.created'));
      [...created, ...others].forEach((event) => state.append(EVENT_JOURNAL, event));
    },
  };
}
