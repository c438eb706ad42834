// SQL for reading events. In feed order, $1 is the last position read and $2 the number of rows; newest first, $1 is the
// number of rows.
import type { PreparedStatement } from '#libs/database';
import { pageStatement } from '#libs/paging';
import { EVENT_TYPES, type EventType } from './event-types';

type Statement = PreparedStatement & { values: unknown[] };

/** An event must match both. */
export interface EventFilter {
  type?: readonly EventType[];
  petId?: number;
}

const EVENTS = { table: 'events', id: 'position' };

/** The events after a position. @param after 0 for the oldest; @param rows number of rows */
export function eventListStatement(
  columns: string,
  { type, petId }: EventFilter,
  after: number,
  rows: number,
): Statement {
  const values: unknown[] = [after, rows];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  if (type === undefined && petId === undefined) {
    return { name: 'events-page', text: pageStatement({ ...EVENTS, columns, conditions: [] }), values };
  }
  const conditions = petId === undefined ? [] : [`pet_id = ${parameter(petId)}`];
  // The index of a pet has the type before the position, so each type is asked for.
  const types = [...new Set(type ?? EVENT_TYPES)];
  const within = {
    column: 'type',
    sorted: petId === undefined ? 'ASC' : 'DESC',
    parameters: types.map(parameter),
  } as const;
  const name = `events-page${petId === undefined ? '' : '-of-pet'}-of-${types.length}`;
  return { name, text: pageStatement({ ...EVENTS, columns, conditions, within }), values };
}

/** The newest events, newest first. */
export function newestEventsStatement(
  columns: string,
  { type, petId }: EventFilter,
  rows: number,
): Statement {
  const values: unknown[] = [rows];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const select = (conditions: string[], order: string): string =>
    `(SELECT ${columns} FROM events WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT $1)`;
  if (type === undefined && petId === undefined) {
    return { text: select(['true'], 'position DESC'), values };
  }
  const ofPet = petId === undefined ? [] : [`pet_id = ${parameter(petId)}`];
  const parts = [...new Set(type ?? EVENT_TYPES)].map((one) =>
    select([...ofPet, `type = ${parameter(one)}`], 'position DESC'),
  );
  const all = `SELECT * FROM (${parts.join(' UNION ALL ')}) AS parts`;
  return { text: `${all} ORDER BY position DESC LIMIT $1`, values };
}
