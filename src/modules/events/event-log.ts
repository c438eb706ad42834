import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Entity, Journal, Participants, State } from '#libs/database';
import type { EventType } from './event';

/** An event before it is stored. */
export interface Occurrence {
  type: EventType;
  /** The pet concerned, if any. */
  petId?: number;
  /** The resource as GET returns it right after the event, or right before it was removed. */
  data: object;
}

/** One statement for all events of a commit. SQL, because a journal of commands is a statement. */
const INSERT = {
  text: `INSERT INTO events (id, type, pet_id, data)
    SELECT * FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::text[])`,
};

const EVENT_JOURNAL: Journal<Occurrence> = {
  write: (events) => {
    const ids = events.map(() => randomUUID());
    const types = events.map(({ type }) => type);
    const pets = events.map(({ petId }) => petId ?? null);
    const data = events.map((event) => JSON.stringify(event.data));
    return [{ statement: INSERT, values: [ids, types, pets, data] }];
  },
};

/** An entity whose rows commands change, and the events that tell of it. */
export interface Participant {
  readonly entity: Entity;
  /** The events that report what a command did; the state is that after the command. */
  eventsOf?(state: State): Occurrence[];
}

/** The Participants in the order of locks and writes, parents before children. */
export const PARTICIPANTS = Symbol('participants');

/** Reports what commands do: events are written in the transaction of the change. */
@Injectable()
export class EventLog implements Participants {
  readonly entities: readonly Entity[];

  constructor(@Inject(PARTICIPANTS) private readonly participants: readonly Participant[]) {
    this.entities = participants.map(({ entity }) => entity);
  }

  /** Children report before their parents: an order, the stock that it took, the pet. What is new comes first. */
  decided(state: State): void {
    const all = this.participants.toReversed().flatMap(({ eventsOf }) => eventsOf?.(state) ?? []);
    const [created, others] = [all.filter(isCreation), all.filter((one) => !isCreation(one))];
    [...created, ...others].forEach((occurrence) => state.append(EVENT_JOURNAL, occurrence));
  }
}

function isCreation({ type }: Occurrence): boolean {
  return type.endsWith('.created');
}
