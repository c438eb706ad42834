import { Inject, Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { Entity, Participants, State } from '#libs/database';
import { EVENT_JOURNAL, EVENT_TYPES, type RecordedEvent } from './event-blocks';

/** An event before it is stored. */
export interface Occurrence extends Pick<RecordedEvent, 'type' | 'data'> {
  /** The pet concerned, if any. */
  petId?: number;
}

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
  /** Events that this process has written, by their type. */
  readonly written: Record<string, number> = Object.fromEntries(EVENT_TYPES.map((type) => [type, 0]));

  constructor(@Inject(PARTICIPANTS) private readonly participants: readonly Participant[]) {
    this.entities = participants.map(({ entity }) => entity);
  }

  /** Children report before their parents: an order, the stock that it took, the pet. */
  decided(state: State): void {
    for (const { eventsOf } of this.participants.toReversed()) {
      eventsOf?.(state).forEach((occurrence) => this.add(state, occurrence));
    }
  }

  private add(state: State, { type, petId, data }: Occurrence): void {
    state.append(EVENT_JOURNAL, { id: randomUUID().replaceAll('-', ''), type, petId: petId ?? null, data });
    state.afterCommit(() => {
      this.written[type]! += 1;
    });
  }
}
