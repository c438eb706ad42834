import { randomUUID } from 'node:crypto';
import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DAY_MS } from '#libs/clock';
import { type Entity, type Journal, RetentionModule, type State, type WriteModel } from '#libs/database';
import { EventRow, type EventType } from './event.entity';
import { DAYS_KEPT, EventReader } from './event-reader';
import { EventTail } from './event-tail';
import { EventsController } from './events.controller';

/** An event before it is stored. */
export interface NewEvent {
  type: EventType;
  /** The pet concerned, if any. */
  petId?: number;
  /** The resource as GET returns it right after the event, or right before it was removed. */
  data: object;
}

/** One statement for all events of a commit, and a plainer one for a single event. SQL, because a journal of commands is a statement. */
const INSERT_ONE = { text: 'INSERT INTO events (id, type, pet_id, data) VALUES ($1, $2, $3, $4)' };
const INSERT = {
  text: `INSERT INTO events (id, type, pet_id, data)
    SELECT * FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::text[])`,
};

const EVENT_JOURNAL: Journal<NewEvent> = {
  write: (events) => {
    const rows = events.map(({ type, petId, data }) => [
      randomUUID(),
      type,
      petId ?? null,
      JSON.stringify(data),
    ]);
    const call =
      rows.length === 1
        ? { statement: INSERT_ONE, values: rows[0] }
        : { statement: INSERT, values: [0, 1, 2, 3].map((column) => rows.map((row) => row[column])) };
    return [call];
  },
};

/** An entity whose rows commands change, and the events that tell of it. */
export interface Participant {
  readonly entity: Entity;
  /** The events that report what a command did; the state is that after the command. */
  eventsOf?(state: State): NewEvent[];
}

/**
 * What all writes of the store have in common: events are written in the transaction of the change.
 * @param participants all entities whose rows commands change, in the order of locks and writes, parents before children
 */
export function reportedWrites(participants: readonly Participant[]): WriteModel {
  // Children report before their parents: an order, the stock that it took, the pet. What is new comes first.
  const reporting = participants.toReversed();
  return {
    tables: participants.map(({ entity }) => entity),
    afterCommand: (state) => {
      const events = reporting.flatMap(({ eventsOf }) => eventsOf?.(state) ?? []);
      const created = events.filter(({ type }) => type.endsWith('.created'));
      const others = events.filter(({ type }) => !type.endsWith('.created'));
      [...created, ...others].forEach((event) => state.append(EVENT_JOURNAL, event));
    },
  };
}

/** Reading events. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([EventRow])],
  providers: [EventReader],
  exports: [EventReader],
})
export class EventLogModule {}

/** Longer than promised, so that no event expires before the last of its deliveries. */
const KEPT_MS = (DAYS_KEPT + 2) * DAY_MS;
/** Events that are looked at, and deleted, at a time. */
const SLICE = 5_000;

/** The oldest events, if they are too old: needs no index on the time. */
const expired = (now: number): string =>
  `position = ANY(ARRAY(SELECT position FROM events ORDER BY position LIMIT ${SLICE}))
   AND time < '${new Date(now - KEPT_MS).toISOString()}'`;

/** The feed that callers follow. */
@Module({
  imports: [RetentionModule.keep({ table: 'events', expired, batch: SLICE })],
  controllers: [EventsController],
  providers: [EventTail],
  exports: [EventTail],
})
export class EventsModule {}
