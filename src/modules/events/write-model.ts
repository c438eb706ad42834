import { randomUUID } from 'node:crypto';
import { Insert, type WriteModel } from '#libs/database';
import type { ReportedEvent, WrittenTable } from '../../feature';
import type { EventType } from './event.entity';

/**
 * A ReportedEvent whose type the compiler checks. In `feature.ts`, the type is any string, because `feature.ts` imports
 * no module. An event is a NewEvent until it is written, an EventRow in the table, a StoredEvent when EventReader has
 * read it, and an EventDto for callers.
 */
export interface NewEvent extends ReportedEvent {
  type: EventType;
}

const INSERT = new Insert('INSERT INTO events (id, type, pet_id, data)', ['uuid', 'text', 'bigint', 'text']);

/**
 * Describes the tables that commands change, and adds to each command the events that report its changes, in the same
 * transaction.
 * @param tables all tables that commands change, parents before children, because rows are locked and written in this
 * order
 */
export function writeModelWithEvents(tables: readonly WrittenTable[]): WriteModel {
  // Report changes of children before changes of parents, for example first an order, then the stock that the order
  // took, then the pet.
  const reporting = tables.toReversed();
  return {
    tables: tables.map(({ entity }) => entity),
    afterCommand: (state) => {
      const events = reporting.flatMap(({ eventsOf }) => eventsOf?.(state) ?? []);
      // Report a new resource before the other changes, for example a new pet before its stock.
      const isNew = ({ type }: ReportedEvent) => type.endsWith('.created');
      events.sort((one, other) => Number(isNew(other)) - Number(isNew(one)));
      for (const { type, petId, data } of events) {
        state.append(INSERT, [randomUUID(), type, petId ?? null, JSON.stringify(data)]);
      }
    },
  };
}
