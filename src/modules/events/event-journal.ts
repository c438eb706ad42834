import type { Journal } from '#libs/database';
import { EVENT_TYPES, type EventType } from './event-types';
import { BLOCK_SIZE, type RecordedEvent } from './stored-event';

/** Plain values: the driver would quote arrays of JSON, and the database would have to parse them again. */
const INSERT = {
  name: 'event-blocks-insert',
  text: `INSERT INTO event_blocks (size, types, pets, events) VALUES ($1, $2, $3, $4)`,
};

/** How the events of a commit are written. */
export const EVENT_JOURNAL: Journal<RecordedEvent> = {
  write(events) {
    const blocks = Array.from({ length: Math.ceil(events.length / BLOCK_SIZE) }, (_none, index) =>
      events.slice(index * BLOCK_SIZE, (index + 1) * BLOCK_SIZE),
    );
    return blocks.map((block) => {
      const pets = new Set(block.flatMap(({ petId }) => petId ?? []));
      const values = [block.length, maskOf(block.map(({ type }) => type)), [...pets], JSON.stringify(block)];
      return { statement: INSERT, values };
    });
  },
};

/** A bit for each type. New types must be appended. */
export function maskOf(types: readonly EventType[]): number {
  return types.reduce((mask, type) => mask | (1 << EVENT_TYPES.indexOf(type)), 0);
}
