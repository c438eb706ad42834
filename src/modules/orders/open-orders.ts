import { MAX_COUNT, type Aggregate, type Need, type State } from '#libs/database';

const COUNT: Aggregate = {
  name: 'open orders',
  text: `SELECT asked.id, count(*) AS value FROM unnest($1::bigint[]) AS asked (id) CROSS JOIN LATERAL
    (SELECT 1 FROM orders WHERE pet_id = asked.id AND cancelled_at IS NULL AND complete = false
     LIMIT ${MAX_COUNT}) AS open
    GROUP BY asked.id`,
};

/** The number of a pet's open orders, for commands. */
export const OpenOrders = {
  count: (petId: number): Need => ({ aggregate: COUNT, id: petId }),
  exist: (state: State, petId: number): boolean => state.aggregate(COUNT, petId) > 0,
  opened: (state: State, petId: number): void => state.adjust(COUNT, petId, 1),
  closed: (state: State, petId: number): void => state.adjust(COUNT, petId, -1),
};
